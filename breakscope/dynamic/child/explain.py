"""torch._dynamo.explain on the first call."""

from __future__ import annotations

from types import ModuleType

import torch

from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.calls import Enough, Plan, build
from breakscope.dynamic.child.load import argument_tuples, look_up


def explain_first_call(module: ModuleType, plan: Plan) -> dict:
    """Graphs with the names of their ops, the number of guards and the places of breaks, of one
    first call."""
    torch._dynamo.reset()
    target = build(module, plan)
    args, kwargs = _first_arguments(module, plan, target)
    tensors.seed_everything()
    explained = torch._dynamo.explain(target.function)(*args, **kwargs)
    return {
        "graphs": [
            [_op_name(node.target) for node in graph.graph.nodes if node.op.startswith("call_")]
            for graph in explained.graphs
        ],  # its ops_per_graph leaves out method calls
        "guards": len(explained.out_guards or []),
        "breaks": [
            {
                "reason": str(reason.reason)[:2000],
                "frames": [[f.filename, f.lineno, f.name] for f in reason.user_stack],
            }
            for reason in explained.break_reasons
            if reason.graph_break
        ],
    }


def _first_arguments(module: ModuleType, plan: Plan, target) -> tuple[tuple, dict]:
    if plan.calls:
        args, kwargs = argument_tuples(module, plan.calls)[0]
    elif plan.drive:
        args, kwargs = _first_driven(module, plan, target)
    else:
        args, kwargs = target.args, target.kwargs
    return tensors.move_values((args, kwargs), plan.device)


def _first_driven(module: ModuleType, plan: Plan, target) -> tuple[tuple, dict]:
    seen: list[tuple[tuple, dict]] = []

    def call(*args, **kwargs):
        seen.append((args, kwargs))
        raise Enough

    try:
        look_up(module, plan.drive)(call, target.function)
    except Enough:
        pass
    return seen[0]


def _op_name(op: object) -> str:
    """ "relu", "aten.add.Tensor", "Tensor.view", "layers.0": as short as it stays clear."""
    if isinstance(op, str):
        return op
    module = getattr(op, "__module__", "") or ""
    name = getattr(op, "__name__", None) or str(op)
    if module in ("_operator", "torch", "") or module.startswith("torch._ops"):
        return str(op) if module.startswith("torch._ops") else name
    return name
