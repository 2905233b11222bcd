"""Branches, try and match."""

from __future__ import annotations

import ast

from breakscope.events import CHOSEN, LEFT, Branch, Statement
from breakscope.static.conditions import opposite
from breakscope.static.frames import GO_ON, LEAVE_LOOP, RAISE, RETURN, Frame, Raised
from breakscope.static.joins import element_of, join_names
from breakscope.values import UNKNOWN, Class, Dict, External, ExternalInstance, Instance, Sequence, Value, options
from breakscope.walking import walk


class ControlFlow:
    """How the paths through a function part and meet."""

    __slots__ = ()

    def exec_If(self, node: ast.If, frame: Frame) -> int:
        raises = not node.orelse and all([type(s) is ast.Raise for s in node.body])
        truth = self.test(node.test, frame, "if", raises=raises)
        if truth is True:
            self.narrow(node.test, True, frame)
            return self.exec_block(node.body, frame)
        if truth is False:
            if frame.function is None and _is_type_checking(node.test):
                self.bind_imports(node.body, frame)
            self.narrow(node.test, False, frame)
            return self.exec_block(node.orelse, frame)
        return self.both_paths(node, frame)

    def bind_imports(self, body: list[ast.stmt], frame: Frame) -> None:
        """Bind what a module imports for type checkers only: a package that loads its names lazily lists them there,
        and others use them in annotations. Nothing is read before a name is used."""
        for statement in body:
            if type(statement) is ast.ImportFrom:
                if statement.names[0].name == "*":
                    frame.module.has_stars = True
                else:
                    self.exec_ImportFrom(statement, frame)

    def both_paths(self, node: ast.If, frame: Frame) -> int:
        before, condition, certainty, undecided = frame.names, frame.condition, frame.certainty, frame.undecided
        frame.names, frame.undecided = dict(before), CHOSEN
        if frame.emits and self.last_test_is_configuration:
            frame.condition = frame.condition or self.text(node.test, frame.module)
            frame.certainty = "possible" if self.rarely_true(node.test, frame) else certainty
        self.narrow(node.test, True, frame)
        first = self.exec_path(node.body, frame)
        decided_by = frame.condition
        frame.condition, frame.certainty = condition, certainty
        names, frame.names = frame.names, dict(before)
        self.narrow(node.test, False, frame)
        second = GO_ON
        if node.orelse:
            if decided_by is not condition:
                frame.condition = opposite(decided_by)
            second = self.exec_path(node.orelse, frame)
            frame.condition = condition
        frame.undecided = undecided
        if first == second == RAISE:
            raise Raised(UNKNOWN)
        if first and second:
            return LEAVE_LOOP if LEAVE_LOOP in (first, second) else RETURN
        if first:
            if first == RETURN and decided_by is not condition:
                frame.condition = opposite(decided_by)  # of all that follows
                frame.undecided = undecided or LEFT
            return GO_ON
        frame.names = names if second else join_names(names, frame.names)
        return GO_ON

    def exec_Try(self, node: ast.Try, frame: Frame) -> int:
        before = dict(frame.names)
        lost, frame.lost = frame.lost, frame.lost or "try"
        caught, frame.caught = frame.caught, frame.caught or bool(node.handlers)
        raised = None
        try:
            status = self.exec_block(node.body, frame)
        except Raised as problem:
            raised, status = problem, RAISE
        frame.lost, frame.caught = lost, caught
        after_body = frame.names
        if status == GO_ON and node.orelse:
            status = self.exec_path(node.orelse, frame)
            after_body = frame.names
        ends = [(status, after_body)] if status != RAISE else []
        if raised is not None and node.handlers:
            self.emit(
                Statement,
                self.raising_node(node, frame),
                frame,
                construct="raise",
                name=self.exception_name(raised.value),
                value=raised.value,
            )
        certainty, returns = frame.certainty, len(frame.returns)
        for handler in node.handlers:
            if raised is None:
                frame.certainty = "possible"
            frame.names = join_names(before, after_body)
            frame.handled = raised.value if raised else UNKNOWN
            if handler.name:
                frame.names[handler.name] = frame.handled
            end = self.exec_path(handler.body, frame)
            frame.certainty = certainty
            if raised is None and status == RETURN:
                del frame.returns[returns:]  # the body returns unless something goes wrong
            elif end != RAISE:
                ends.append((end, frame.names))
        if not ends:
            frame.names = after_body
            if node.finalbody:
                self.exec_block(node.finalbody, frame)
            raise raised or Raised(UNKNOWN)
        going_on = [names for end, names in ends if end == GO_ON]
        frame.names = going_on[0] if going_on else ends[0][1]
        for names in going_on[1:]:
            frame.names = join_names(frame.names, names)
        if node.finalbody:
            final = self.exec_block(node.finalbody, frame)
            if final:
                return final
        return GO_ON if going_on else ends[0][0]

    exec_TryStar = exec_Try

    def raising_node(self, node: ast.Try, frame: Frame) -> ast.AST:
        return node.body[0] if len(node.body) == 1 else node

    def exception_name(self, value: Value) -> str:
        if isinstance(value, Instance):
            return value.cls.info.name
        if isinstance(value, Class):
            return value.info.name
        return value.name if isinstance(value, External | ExternalInstance) else ""

    def exec_Match(self, node: ast.Match, frame: Frame) -> int:
        subject = self.eval(node.subject, frame)
        before, ends = frame.names, []
        for case in node.cases:
            frame.names = dict(before)
            verdict = self.match_pattern(case.pattern, subject, frame)
            if verdict is False:
                continue
            if case.guard is not None and self.test(case.guard, frame, "if") is False:
                continue
            end = self.exec_path(case.body, frame)
            ends.append((end, frame.names))
            if verdict is True and case.guard is None:
                break
        else:
            ends.append((GO_ON, before))
        going_on = [names for end, names in ends if end == GO_ON]
        if not going_on:
            frame.names = ends[0][1]
            if all(end == RAISE for end, _ in ends):
                raise Raised(UNKNOWN)
            return RETURN
        frame.names = going_on[0]
        for names in going_on[1:]:
            frame.names = join_names(frame.names, names)
        return GO_ON

    def match_pattern(self, pattern: ast.pattern, subject: Value, frame: Frame) -> bool | None:
        """Whether the subject matches, None when it may; binds the pattern's names."""
        if isinstance(pattern, ast.MatchValue):
            wanted = self.eval(pattern.value, frame)
            for option in options(subject):
                if option.is_tensor or wanted.is_tensor:
                    tensor = option if option.is_tensor else wanted
                    self.emit(
                        Branch,
                        pattern.value,
                        frame,
                        self.sureness(tensor) if option is subject else "likely",
                        test=tensor,
                        construct="match",
                    )
                    break
            return subject.value == wanted.value if subject.is_const and wanted.is_const else None
        if isinstance(pattern, ast.MatchSingleton):
            if subject.is_tensor:
                return False
            return subject.value is pattern.value if subject.is_const else None
        if isinstance(pattern, ast.MatchOr):
            verdicts = [self.match_pattern(p, subject, frame) for p in pattern.patterns]
            return True if True in verdicts else None if None in verdicts else False
        if isinstance(pattern, ast.MatchAs):
            verdict = self.match_pattern(pattern.pattern, subject, frame) if pattern.pattern else True
            if pattern.name:
                frame.names[pattern.name] = subject
            return verdict
        if isinstance(pattern, ast.MatchSequence | ast.MatchMapping) and subject.is_tensor:
            return False  # a tensor is neither for `match`
        if (
            isinstance(pattern, ast.MatchSequence)
            and isinstance(subject, Sequence)
            and subject.items is not None
            and not any(isinstance(p, ast.MatchStar) for p in pattern.patterns)
        ):
            return self.match_items(pattern.patterns, subject.items, frame)
        if isinstance(pattern, ast.MatchMapping) and isinstance(subject, Dict) and not subject.open and not pattern.rest:
            keys = [self.eval(key, frame) for key in pattern.keys]
            if not all(key.is_const and key.value in subject.items for key in keys):
                return False if all(key.is_const for key in keys) else None
            return self.match_items(pattern.patterns, [subject.items[key.value] for key in keys], frame)
        if isinstance(pattern, ast.MatchClass) and isinstance(subject, Instance):
            return self.match_object(pattern, subject, frame)
        for name in _names_bound(pattern):
            frame.names[name] = element_of(subject) if isinstance(subject, Sequence) else UNKNOWN
        return None

    def match_object(self, pattern: ast.MatchClass, subject: Instance, frame: Frame) -> bool | None:
        """`case Point(x, y=0)`: the parts by the fields of the class."""
        wanted = self.eval(pattern.cls, frame)
        if isinstance(wanted, Class) and wanted.info not in self.mro(subject.cls.info):
            return False
        fields = [name for name, *_ in self.fields(subject.cls.info)]
        names = [*fields[: len(pattern.patterns)], *pattern.kwd_attrs]
        parts = [self.attribute(subject, name, pattern, frame) for name in names]
        verdict = self.match_items([*pattern.patterns, *pattern.kwd_patterns], parts, frame)
        return verdict if isinstance(wanted, Class) or verdict is False else None

    def match_items(self, patterns: list[ast.pattern], items: list[Value], frame: Frame) -> bool | None:
        """Whether each item matches its pattern; the first that certainly does not ends the search."""
        if len(patterns) != len(items):
            return False
        verdict: bool | None = True
        for pattern, item in zip(patterns, items):
            found = self.match_pattern(pattern, item, frame)
            if found is False:
                return False
            verdict = verdict if found else None
        return verdict


def _is_type_checking(test: ast.expr) -> bool:
    if type(test) is ast.BoolOp:
        return any(map(_is_type_checking, test.values))
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def _names_bound(pattern: ast.pattern) -> list[str]:
    return [n.name for n in walk(pattern) if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name]
