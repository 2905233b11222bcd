"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast

from breakscope.events import Comprehension
from breakscope.static.apart import is_iterated_apart
from breakscope.static.frames import Activation, Frame, Step
from breakscope.static.joins import join_all
from breakscope.values import UNKNOWN, Const, Dict, Sequence, Value

MOST_UNROLLED = 16


class Comprehensions:
    """A comprehension is a frame of its own before Python 3.12."""

    __slots__ = ()

    def eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        return self.comprehension("list", node, frame)

    def eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        return self.comprehension("set", node, frame)

    def eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        return self.comprehension("generator", node, frame)

    def eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        rows, known = self.rows(node, frame, lambda: (self.eval(node.key, frame), self.eval(node.value, frame)))
        result = Dict({}, UNKNOWN, open=not known)
        for key, value in rows:
            self.put(result, key, value)
        return result

    def comprehension(self, type_: str, node, frame: Frame) -> Value:
        rows, known = self.rows(node, frame, lambda: self.eval(node.elt, frame))
        return Sequence(type_, list(rows)) if known else Sequence(type_, None, join_all(rows))

    def rows(self, node, frame: Frame, produce) -> tuple[list, bool]:
        """What a comprehension produces, and whether that is exactly known (short, known source and no open filter)."""
        before, lost, outer = frame.names, frame.lost, frame.activation
        frame.names = dict(before)
        try:
            first = node.generators[0]
            source = self.contents(self.eval(first.iter, frame))
            if self.python < (3, 12) and frame.emits:  # a comprehension is a frame of its own
                iterates_tuple = type(first.iter) is ast.List  # the compiler makes a tuple of it
                apart = type(node) is not ast.GeneratorExp and self.is_comprehension_compiled_apart(node, frame)
                if apart and not iterates_tuple:
                    self.emit(Comprehension, first.iter, frame, iterable=source)
                frame.activation = Activation(outer.function, outer.module, node.lineno)
                frame.activation.is_compiled_apart = apart and (iterates_tuple or is_iterated_apart(source))
                stays = lost or ("call" if type(node) is ast.GeneratorExp else "")  # no resuming inside a generator
                outer.steps.append(Step(None, frame.activation, stays, node))
            frame.lost = lost or "comprehension"
            items = source.items if isinstance(source, Sequence) else None
            if isinstance(source, Dict) and not source.open:
                items = [Const(k) for k in source.items]
            if items is None or len(items) > MOST_UNROLLED:
                element = self.iterate(source, first.iter, frame)
                return self.produced(node, 0, [element] if element is not None else [], frame, produce), False
            rows, known = [], True
            for item in items:
                more, sure = self.produced_known(node, item, frame, produce)
                rows.extend(more)
                known = known and sure
            return rows, known and len(node.generators) == 1
        finally:
            frame.names, frame.lost, frame.activation = before, lost, outer

    def produced_known(self, node, item: Value, frame: Frame, produce) -> tuple[list, bool]:
        self.assign(node.generators[0].target, item, frame, node)
        verdict = self.filters(node.generators[0].ifs, frame)
        if verdict is False:
            return [], True
        if len(node.generators) > 1:
            return self.nested(node, 1, frame, produce), False
        return [produce()], verdict is True

    def produced(self, node, depth: int, elements: list[Value], frame: Frame, produce) -> list:
        rows = []
        for element in elements:
            self.assign(node.generators[depth].target, element, frame, node)
            if self.filters(node.generators[depth].ifs, frame) is not False:
                rows.extend(
                    self.nested(node, depth + 1, frame, produce) if depth + 1 < len(node.generators) else [produce()]
                )
        return rows

    def nested(self, node, depth: int, frame: Frame, produce) -> list:
        iterable = self.eval(node.generators[depth].iter, frame)
        element = self.iterate(iterable, node.generators[depth].iter, frame)
        return self.produced(node, depth, [element] if element is not None else [], frame, produce)

    def filters(self, tests: list[ast.expr], frame: Frame) -> bool | None:
        verdict: bool | None = True
        for test in tests:
            truth = self.test(test, frame, "comprehension")
            if truth is False:
                return False
            self.narrow(test, True, frame)
            verdict = verdict if truth is True else None
        return verdict
