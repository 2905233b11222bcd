"""The same step as one graph: what it would take had it no breaks.

The step is traced op by op, so that Python, prints and reads of values between the ops are gone;
what depended on values (a branch, `.item()`, the indices of a mask) stays as it was in this one
step, and the values are still computed. It takes its weights out of the user's module, as the step
does, so that the guards on the module are paid for too. That is no program to keep, but one to
time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from breakscope.dynamic.child import tensors
from breakscope.dynamic.child.bench.stepper import Stepper
from breakscope.dynamic.child.load import TargetError
from breakscope.texts import exception_text

OWNER = "users_module"
DEPENDENT = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


def traced(stepper: Stepper, function: Callable) -> Stepper:
    """A stepper whose function is the traced `function`; raises TargetError when the step cannot be
    traced."""
    if stepper.turn != 1:
        raise TargetError("the calls differ, and one trace fits only one of them")
    args, kwargs = stepper.sequence[0]
    values, spec = pytree.tree_flatten((args, kwargs))
    given = [v for v in values if isinstance(v, torch.Tensor)]

    def step(*inputs: torch.Tensor) -> list[torch.Tensor]:
        rest = iter(inputs)
        args, kwargs = pytree.tree_unflatten(
            [next(rest) if isinstance(v, torch.Tensor) else v for v in values], spec
        )
        return tensors.tensors_of(function(*args, **kwargs))

    graph = _fix_values(_trace(step, given), given)
    owner = function if isinstance(function, nn.Module) else getattr(function, "__self__", None)
    if isinstance(owner, nn.Module):
        _read_from(graph, owner)
    single = _as_module(graph) if isinstance(function, nn.Module) else graph.forward
    return replace(stepper, function=single, sequence=[(tuple(given), {})])


def _read_from(graph: GraphModule, owner: nn.Module) -> None:
    """Let the graph read weights and buffers where they are in the user's module."""
    paths = {
        id(tensor): path for path, tensor in (*owner.named_buffers(), *owner.named_parameters())
    }
    graph.add_module(OWNER, owner)
    for node in graph.graph.find_nodes(op="get_attr"):
        path = paths.get(id(getattr(graph, node.target, None)))
        if path:
            node.target = f"{OWNER}.{path}"
    graph.recompile()


def _as_module(graph: GraphModule) -> nn.Module:
    """The graph as an ordinary module, which Dynamo enters as it enters the user's."""
    single = type("OneGraph", (nn.Module,), {"forward": type(graph).forward})()
    single.__dict__.update(graph.__dict__)
    return single


def _trace(step, given: list[torch.Tensor]) -> GraphModule:
    """Before autograd where that works; a step that calls `backward` itself is traced with what its
    backward does."""
    problem: Exception | None = None
    for before_autograd in (True, False):
        try:
            return make_fx(
                step,
                tracing_mode="real",
                pre_dispatch=before_autograd,
                _error_on_data_dependent_ops=False,
            )(*given)
        except Exception as failure:  # the user's code, traced
            problem = problem or failure
    raise TargetError(f"the step cannot be traced op by op: {exception_text(problem)}")


def _fix_values(graph: GraphModule, given: list[torch.Tensor]) -> GraphModule:
    """Put constants where an op's result or its shape depends on values, so that nothing breaks the
    graph."""
    seen = _Watch(graph)
    seen.run(*given)
    read = [n for node in seen.dependent for n in seen.sources(node) if n not in seen.dependent]
    for number, (node, value) in enumerate(seen.dependent.items()):
        if node.target is torch.ops.aten.index.Tensor:
            _fix_masks(graph, node, seen.masks[node], number)
        else:
            _fix_result(graph, node, value, number)
    _still_compute(graph, read)
    _without_marks(graph)
    graph.recompile()
    return graph


def _without_marks(graph: GraphModule) -> None:
    """Drop what only marks a stretch for the profiler, as optimizers do: Dynamo leaves it out too."""
    for node in reversed(graph.graph.nodes):
        if getattr(node.target, "namespace", "") == "profiler":
            graph.graph.erase_node(node)


def _still_compute(graph: GraphModule, nodes: list[Node]) -> None:
    """Give back, without a gradient, the tensors that were read; nothing else in the graph may need
    them."""
    output = graph.graph.output_node()
    with graph.graph.inserting_before(output):
        kept = [
            graph.graph.call_function(torch.ops.aten.detach.default, (node,))
            for node in dict.fromkeys(nodes)
        ]
    output.args = ([*output.args[0], *kept],)


class _Watch(Interpreter):
    """Runs the graph once and keeps copies of what depends on values."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__(graph)
        self.dependent: dict[Node, object] = {}
        self.masks: dict[Node, list] = {}

    def sources(self, node: Node) -> list[Node]:
        """The tensors whose values `node` reads: all that it takes, of an index only the masks."""
        if node in self.masks:
            return [
                i for i, mask in zip(node.args[1], self.masks[node], strict=True) if _is_mask(mask)
            ]
        return [n for n in node.all_input_nodes if n.op not in ("placeholder", "get_attr")]

    def run_node(self, n: Node):
        with _Inside() as inside:
            value = super().run_node(n)
        if n.op == "call_function" and inside.depends:
            self.dependent[n] = pytree.tree_map_only(
                torch.Tensor, lambda t: t.detach().clone(), value
            )
            if n.target is torch.ops.aten.index.Tensor:
                self.masks[n] = [None if i is None else self.env[i].clone() for i in n.args[1]]
                if not any(map(_is_mask, self.masks[n])):
                    del self.dependent[n]
            elif any(
                isinstance(v, torch.Tensor) and v.requires_grad for v in pytree.tree_leaves(value)
            ):
                raise TargetError(f"{n.target} keeps its gradient, which a constant does not")
        return value


class _Inside(TorchDispatchMode):
    """`depends` is True when one of the ops that run inside has a result whose value or shape
    depends on values; an op such as `where(condition)` has such an op in it."""

    depends = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.depends = self.depends or any(tag in func.tags for tag in DEPENDENT)
        return func(*args, **(kwargs or {}))


def _fix_masks(graph: GraphModule, node: Node, masks: list, number: int) -> None:
    """`x[mask]` becomes `x[indices]` with the indices of this step; gradients flow as before."""
    indices = []
    for position, (old, mask) in enumerate(zip(node.args[1], masks, strict=True)):
        if not _is_mask(mask):
            indices.append(old)
            continue
        for dimension, found in enumerate(mask.nonzero(as_tuple=True)):
            indices.append(_constant(graph, node, found, f"_kept_{number}_{position}_{dimension}"))
    node.args = (node.args[0], indices)


def _is_mask(index: torch.Tensor | None) -> bool:
    return index is not None and index.dtype in (torch.bool, torch.uint8)


def _fix_result(graph: GraphModule, node: Node, value: object, number: int) -> None:
    if isinstance(value, (int, float, bool, complex)):
        _replace(node, value)
    elif isinstance(value, torch.Tensor):
        _replace(node, _constant(graph, node, value, f"_kept_{number}"))
    elif isinstance(value, (tuple, list)):
        for user in list(node.users):
            part = value[user.args[1]]
            _replace(user, _constant(graph, user, part, f"_kept_{number}_{user.args[1]}"))
            graph.graph.erase_node(user)
    if not node.users:
        graph.graph.erase_node(node)


def _replace(node: Node, value: object) -> None:
    for user in list(node.users):
        user.args = map_arg(user.args, lambda used: value if used is node else used)
        user.kwargs = map_arg(user.kwargs, lambda used: value if used is node else used)


def _constant(graph: GraphModule, node: Node, value: torch.Tensor, name: str) -> Node:
    graph.register_buffer(name, value)
    with graph.graph.inserting_before(node):
        return graph.graph.get_attr(name)
