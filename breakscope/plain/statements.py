"""Statements: in a region (`strict`) each must be one of the plain ones; in a constructor anything goes, and what the
look does not follow gives UNKNOWN."""

from __future__ import annotations

import _ast

from breakscope.plain.kinds import (
    NONE,
    NUMBER,
    SIZES,
    TENSOR,
    UNKNOWN,
    Many,
    NotPlain,
    Self,
    Types,
    called,
    join,
    joined,
    same,
    settled,
)
from breakscope.plain.library_calls import is_static
from breakscope.plain.names import CONTEXTS

MOST_STATEMENTS = 20_000
MOST_ROUNDS = 6  # of a loop's body until the kinds of its variables no longer change


class Statements:
    """How statements change the names of a frame; True when what follows them is not reached."""

    def block(self, body: list, frame) -> bool:
        self.steps += len(body)
        if self.steps > MOST_STATEMENTS:
            raise NotPlain
        for node in body:
            run = self.statements.get(type(node))
            if run is None:
                self.fail()
            elif run(node, frame):
                return True
        return False

    def run_Pass(self, node, frame) -> bool:
        return False

    def run_Expr(self, node, frame) -> bool:
        if type(node.value) is not _ast.Constant:
            self.eval(node.value, frame)
        return False

    def run_Return(self, node, frame) -> bool:
        frame.result = join(frame.result, self.eval(node.value, frame) if node.value is not None else NONE)
        return True

    def run_Raise(self, node, frame) -> bool:
        self.raised += 1
        if self.strict:
            made = node.exc
            if made is None or node.cause is not None:
                raise NotPlain
            if type(made) is _ast.Call:
                self.arguments(made, frame)
                made = made.func
            if type(made) is not _ast.Name or not made.id.endswith("Error") or made.id in self.source.bound:
                raise NotPlain
        return True

    def run_Assert(self, node, frame) -> bool:
        kind = self.eval(node.test, frame)
        if type(kind) is not str:
            self.fail()  # Dynamo does not take an assert of a container or an object
        self.truth(kind)
        return False

    def run_Assign(self, node, frame) -> bool:
        value = self.eval(node.value, frame)
        for target in node.targets:
            self.assign(target, value, frame)
        return False

    def run_AnnAssign(self, node, frame) -> bool:
        if node.value is not None:
            value = self.eval(node.value, frame)
            if value == NUMBER or value == TENSOR:  # the analyzer may know nothing of it but what the annotation says
                declared = self.annotated(node.annotation)
                value = TENSOR if declared is None else join(value, declared)
            self.assign(node.target, value, frame)
        return False

    def run_AugAssign(self, node, frame) -> bool:
        target, value = node.target, self.eval(node.value, frame)
        if type(target) is _ast.Subscript:
            self.eval(target, frame)
            self.store_item(target, value, frame)
            return False
        old = self.eval(target, frame)
        if type(old) is Many and old.role == "list" and type(node.op) is _ast.Add:
            self.grow(old, self.iterate(value))
            return False
        if type(old) is Many and old.role == "dict":
            self.grow(old, self.values_of(value))
            return False
        grows = settled(old) == TENSOR and settled(value) == SIZES
        if type(value) is Many or old == SIZES or type(old) is tuple or grows:
            self.assign(target, self.fail(), frame)  # may be a list that is changed in place
            return False
        self.assign(target, self.binary(node.op, old, value), frame)
        return False

    def assign(self, target, value: object, frame) -> None:
        kind = type(target)
        if kind is _ast.Name:
            frame.names[target.id] = value
        elif kind is _ast.Tuple or kind is _ast.List:
            self.unpack(target.elts, value, frame)
        elif kind is _ast.Attribute:
            if self.strict:
                raise NotPlain
            self.store_attribute(self.eval(target.value, frame), target.attr, value)
        elif kind is _ast.Subscript:
            self.store_item(target, value, frame)
        else:
            self.fail()

    def unpack(self, targets: list, value: object, frame) -> None:
        if type(value) is tuple and len(value) == len(targets) and not any(type(t) is _ast.Starred for t in targets):
            for target, part in zip(targets, value):
                self.assign(target, part, frame)
            return
        parts = self.parts(value)
        if parts is not None and len(parts) == len(targets) and not any(type(t) is _ast.Starred for t in targets):
            for target, part in zip(targets, parts):
                self.assign(target, part, frame)
            return
        element = self.iterate(value)
        for target in targets:
            if type(target) is _ast.Starred:
                self.assign(target.value, SIZES if element == NUMBER else self.listed(element, target), frame)
            else:
                self.assign(target, element, frame)

    def store_item(self, target, value: object, frame) -> None:
        """`x[..., 0] = v` of a tensor, `a[i] = v` of a list or dict that this call made."""
        base, index = self.eval(target.value, frame), self.index(target.slice, frame)
        if type(base) is Many:
            self.grow(base, value)
        elif type(base) is Self and not self.strict:
            self.keep_child(base.cls, value)
        elif type(base) is frozenset and not self.strict:
            for option in base:
                if type(option) is Many:
                    self.grow(option, called(value) or value)
        elif self.strict and (settled(base) != TENSOR or type(target.slice) is not _ast.Tuple or index != NUMBER):
            raise NotPlain
        elif base == SIZES:
            raise NotPlain

    def grow(self, many: Many, value: object) -> None:
        """One more element; a container that outlives the call may not grow in a region."""
        if self.strict and (many.is_kept or many.role not in ("list", "dict")):
            raise NotPlain
        many.root().passed = None
        many.widen(value)

    def run_If(self, node, frame) -> bool:
        self.truth(self.eval(node.test, frame))
        then, other = self.branches(node.test, frame)
        first = second = True
        if then is not None:
            frame.names = dict(then)
            first = self.block(node.body, frame)
            then = frame.names
        if other is not None:
            frame.names = dict(other)
            second = self.block(node.orelse, frame)
        frame.is_partial = frame.is_partial or first or second
        if not first:
            frame.names = then if second else joined(then, frame.names)
        return first and second

    def run_Match(self, node, frame) -> bool:
        """One case or none runs; only constants are matched, against what no tensor decides."""
        if not is_static(self.eval(node.subject, frame)):
            self.fail()
        before, ends = frame.names, []
        is_left_open = True
        for case in node.cases:
            if not _is_constant(case.pattern):
                self.fail()
            frame.names = dict(before)
            if case.guard is not None:
                self.truth(self.eval(case.guard, frame))
            elif type(case.pattern) is _ast.MatchAs:
                is_left_open = False
            if self.block(case.body, frame):
                frame.is_partial = True
            else:
                ends.append(frame.names)
        ends += [before] if is_left_open else []
        frame.names = ends[0] if ends else before
        for names in ends[1:]:
            frame.names = joined(frame.names, names)
        return not ends

    def run_For(self, node, frame) -> bool:
        self.loop(node, frame)
        return False

    def run_While(self, node, frame) -> bool:
        self.loop(node, frame)
        return False

    def loop(self, node, frame) -> None:
        for _ in range(MOST_ROUNDS):
            before, version = frame.names, self.clock.now
            frame.names = dict(before)
            if type(node) is _ast.While:
                self.truth(self.eval(node.test, frame))
            else:
                self.assign(node.target, self.iterate(self.eval(node.iter, frame)), frame)
            frame.left.append([])
            ended = self.block(node.body, frame)
            after = [*frame.left.pop(), *([] if ended else [frame.names])]
            frame.names = before
            for names in after:
                frame.names = joined(frame.names, names)
            if same(frame.names, before) and self.clock.now == version:
                break
        else:
            raise NotPlain
        self.block(node.orelse, frame)

    def run_Break(self, node, frame) -> bool:
        frame.left[-1].append(dict(frame.names))
        return True

    run_Continue = run_Break

    def run_With(self, node, frame) -> bool:
        for item in node.items:
            if self.strict:
                made = item.context_expr
                if type(made) is not _ast.Call or item.optional_vars is not None:
                    raise NotPlain
                if self.library_name(made.func, frame) not in CONTEXTS:
                    raise NotPlain
                args, named = self.arguments(made, frame)
                if not all(is_static(kind) or _is_named(kind) for kind in (*args, *named.values())):
                    raise NotPlain
            elif item.optional_vars is not None:
                self.assign(item.optional_vars, UNKNOWN, frame)
        return self.block(node.body, frame)

    def run_Delete(self, node, frame) -> bool:
        if self.strict and any(type(target) is not _ast.Name for target in node.targets):
            raise NotPlain
        return False

    def run_Try(self, node, frame) -> bool:
        """Any part of it may run, or none; in a region nothing may be raised inside."""
        before, raised = frame.names, self.raised
        ends = [before]
        for body in (node.body, [*node.body, *node.orelse], *(handler.body for handler in node.handlers)):
            frame.names = ends[0] if not ends[1:] else joined(ends[0], ends[1])
            for handler in node.handlers:
                if handler.name and body is handler.body:
                    frame.names = {**frame.names, handler.name: UNKNOWN}
            frame.names = dict(frame.names)
            if not self.block(body, frame):
                ends.append(frame.names)
            if self.raised != raised and body[: len(node.body)] == node.body:
                self.fail()
        frame.is_partial = True
        frame.names = ends[0]
        for names in ends[1:]:
            frame.names = joined(frame.names, names)
        return self.block(node.finalbody, frame)

    def run_FunctionDef(self, node, frame) -> bool:
        frame.names[node.name] = self.closure(node, frame) if self.sort(node) == "" else self.fail()
        return False

    def run_Nonlocal(self, node, frame) -> bool:
        raise NotPlain


def _is_constant(pattern) -> bool:
    """True for patterns that are constants, several of them, or anything without a name for it."""
    if type(pattern) is _ast.MatchOr:
        return all(map(_is_constant, pattern.patterns))
    if type(pattern) is _ast.MatchAs:
        return pattern.pattern is None and pattern.name is None
    return type(pattern) is _ast.MatchSingleton or type(pattern) is _ast.MatchValue and type(pattern.value) is _ast.Constant


def _is_named(kind: object) -> bool:
    """True for names of a library, and lists of them."""
    return type(kind.element if type(kind) is Many else kind) is Types
