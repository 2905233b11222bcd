"""From verdicts to findings: every finding stands on a libcst node of the user's own text.

A suspect function is parsed again by libcst as a slice of its own lines; what cannot be found there
is no finding.
"""

from __future__ import annotations

import ast
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from breakscope import limits
from breakscope.knowledge import load as load_knowledge
from breakscope.report.model import Finding, Fix, Inside, Link, code_in
from breakscope.rulekit.events import Call, Enter
from breakscope.rulekit.patch import Names
from breakscope.rulekit.problem import Problem
from breakscope.rulekit.rule import Rule
from breakscope.rulekit.walking import begin_of, end_of
from breakscope.static.findings.bound_names import NamesOfTorch
from breakscope.static.findings.negation import simplified
from breakscope.static.findings.suppress import Mark, Suppressions
from breakscope.static.findings.verdicts import Verdict
from breakscope.static.machine.frames import Activation
from breakscope.static.machine.gaps import Gaps, why
from breakscope.static.project.files import relative_path
from breakscope.static.project.modules import ModuleInfo
from breakscope.static.project.source import encoded, shortened
from breakscope.static.project.spans import Position, Span, Spans, nesting


class Flagged(Struct, frozen=True):
    """What became of verdicts: their findings, the places of those that a comment silences, and what
    in these comments does."""

    findings: tuple[tuple[Verdict, Finding], ...] = ()
    silenced: frozenset[tuple] = frozenset()
    used: frozenset[Mark] = frozenset()


class Flagger:
    """Makes the findings of one file."""

    def __init__(self, module: ModuleInfo) -> None:
        self.module = module
        self.parsable: dict[tuple[int, bool], bool] = {}  # by statement
        self.fixes: dict[tuple, tuple[Fix | None, str]] = {}  # other files lead to the same place
        self.sought = self.rewritten = 0  # characters parsed for the findings of a checked file
        self.lines = module.source_lines()
        self.spans = Spans(module.tree, self.lines)
        self.suppressions = Suppressions(self.lines)
        self.names = Names()  # in functions, which fixes look for

    def findings(self, verdicts: list[Verdict], gaps: Gaps, silence: bool) -> Flagged:
        """The findings of the verdicts that libcst confirms and, with `silence`, no comment
        silences. A finding that cannot be made is a gap."""
        self.sought = self.rewritten = 0
        found, silenced, used = [], set(), set()
        for verdict in verdicts:
            node = verdict.problem.node
            try:
                span = self.spans.around(node)
                if span is None or not self.confirmed(node, span):
                    continue
                if marks := self.silencers(verdict, span):
                    used.update(marks)
                    if silence:
                        silenced.add(verdict.place)
                        continue
                found.append((verdict, self.finding(verdict, node, span)))
            except Exception as problem:
                function = verdict.event.function
                message = why(problem, f"a {verdict.rule.code} here")
                gaps.add(message, self.module.path, node.lineno, function)
        return Flagged(tuple(found), frozenset(silenced), frozenset(used))

    def silencers(self, verdict: Verdict, span: Span | None = None) -> list[Mark]:
        """What silences a verdict, in a comment on a line of its statement or for the file."""
        span = span or self.spans.around(verdict.problem.node)
        if span is None or not self.suppressions.marks:
            return []
        return self.suppressions.silencers(
            verdict.rule.code, span.start[0], self.last_line_of(span)
        )

    def finding(self, verdict: Verdict, node: ast.AST, span: Span) -> Finding:
        line, column, end_line, end_column = self.range_of(node)
        rule, problem = verdict.rule, verdict.problem
        # the library's function that breaks
        entered = verdict.inside[-1][0] if verdict.inside else None
        skips, skipped_function = (
            problem.skips,
            entered.function if entered and problem.skips else "",
        )
        if not skips and verdict.confidence != "possible":
            skips, skipped_function = verdict.skipped_caller
        if rule.kind != "break":
            skips = skipped_function = ""
        message, brief = problem.message, problem.brief
        if entered:
            prefix = self.entering(verdict)
            message, brief = f"{prefix}{message}", f"{prefix}{brief}" if brief else ""
        message, brief = shortened(message), shortened(brief)
        first = max(1, line - limits.CONTEXT_LINES)
        if self.lines[first - 1].strip() == "" and first < line:
            first += 1
        last = min(end_line, line + 3)
        fix, no_fix = self.fix_or_reason(verdict, span.node)
        return Finding(
            path=relative_path(self.module.path),
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            code=rule.code,
            rule=rule.name,
            kind=rule.kind,
            severity=rule.severity,
            confidence=verdict.confidence,
            evidence="predicted",
            function=verdict.chain[-1][0].function or getattr(node, "name", "")
            if entered
            else verdict.event.function,
            message=message,
            brief=brief,
            names=code_in(shortened(problem.message)),
            help=shortened(problem.help),
            dynamo=self.ids_of(verdict),
            chain=links(verdict),
            condition=simplified(shortened(verdict.condition)),
            lost=skips,
            lost_function=skipped_function,
            library=entered.module.library if entered else "",
            inside=inside(verdict) if entered else None,
            fix=fix,
            no_fix=no_fix,
            first_source_line=first,
            source=tuple(shortened(t.rstrip("\r\n")) for t in self.lines[first - 1 : last]),
        )

    def entering(self, verdict: Verdict) -> str:
        """How a message begins at the call that enters an installed library."""
        node, library = verdict.problem.node, verdict.inside[-1][0].module.library
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            verb = "inherits" if isinstance(node, ast.ClassDef) else "returns"
            return f"`{node.name}` {verb} code of `{library}`, where "
        call = self.text_between(begin_of(node), end_of(node))
        if len(call) > limits.LONGEST_CALL_TEXT or "\n" in call:
            if not isinstance(node, ast.Call):
                return f"this statement enters `{library}`, where "
            call = ast.unparse(node.func) + "(...)"
        return f"`{call}` enters `{library}`, where "

    def ids_of(self, verdict: Verdict) -> tuple[str, ...]:
        """The guard families of the rule's pattern, or its ids as the target version of torch has
        them."""
        if verdict.rule.kind == "recompile":
            return tuple(verdict.rule.gb_ids())
        facts = load_knowledge()
        if verdict.problem.dynamo:
            return tuple(word for word in verdict.problem.dynamo if word in facts.registry)
        ids = tuple(word for word in verdict.rule.gb_ids() if word in facts.registry)
        table = {Call: facts.call, Enter: facts.context}.get(type(verdict.event))
        if table is not None and (fact := table(verdict.event.name)) is not None:
            measured = tuple(word for word in fact.firsts if word in facts.registry)
            if measured and not set(measured) & set(ids):
                return measured
        return ids

    def range_of(self, node: ast.AST) -> tuple[int, int, int, int]:
        """1-based line and character columns; of a compound statement only the header's first line."""
        line, end_line = node.lineno, node.end_lineno
        column = _characters(self.lines[line - 1], node.col_offset) + 1
        if isinstance(node, ast.stmt) and isinstance(getattr(node, "body", None), list):
            return line, column, line, len(self.lines[line - 1].rstrip()) + 1
        return (
            line,
            column,
            end_line,
            _characters(self.lines[end_line - 1], node.end_col_offset) + 1,
        )

    def confirmed(self, node: ast.AST, span: Span) -> bool:
        """True when libcst has a node of the same text in the statement (in its header, for a
        compound one), or cannot be asked about it."""
        from breakscope.static.findings.slices import is_found

        end = span.header_end or span.end
        text = self.text_between(span.start, end)
        if not self.is_parsable(span.node, text, is_whole=False):
            return True
        wanted = None
        if not isinstance(node, ast.stmt):
            wanted = self.text_between(begin_of(node), end_of(node))
        self.sought += len(wanted or "")
        if self.sought > limits.MOST_SOUGHT_TEXT:
            return True
        return is_found(text, span.header_end is not None, wanted)

    def is_parsable(self, node: ast.AST, text: str, is_whole: bool) -> bool:
        """True for a statement, or a header, that libcst may parse; a deep one would end the
        process."""
        key = id(node), is_whole
        if key not in self.parsable:
            self.parsable[key] = (
                text.count("\n") <= limits.LONGEST_SLICE
                and len(text) <= limits.LONGEST_SLICE_TEXT
                and nesting(node, is_whole) <= limits.DEEPEST_SLICE
            )
        return self.parsable[key]

    def text_between(self, start: Position, end: Position) -> str:
        lines = self.lines[start[0] - 1 : end[0]]
        last = _characters(lines[-1], end[1])
        lines[-1] = lines[-1][:last]
        lines[0] = lines[0][_characters(self.lines[start[0] - 1], start[1]) :]
        return "".join(lines)

    def last_line_of(self, span: Span) -> int:
        """The last line of a statement, or of the header of a compound one."""
        if span.header_end is None:
            return span.end[0]
        line, column = span.header_end
        if self.text_between((line, 0), (line, column)).strip():
            return line  # the body begins behind the colon
        line -= 1
        while line > span.start[0] and self.lines[line - 1].lstrip()[:1] in ("", "#"):
            line -= 1
        return line

    def fix_or_reason(self, verdict: Verdict, statement: ast.AST) -> tuple[Fix | None, str]:
        """The rule's rewrite of the statement, checked to parse back, or why there is none, "" where
        the rule has none at all. An error in making it costs no finding."""
        setting = verdict.problem.setting
        if verdict.rule.rewriter is None and not setting:
            return None, ""
        fixable = verdict.problem.fixable or setting
        if not fixable or not isinstance(statement, ast.stmt):
            return None, "its rewrite would be wrong for these values"
        lines = self.lines[statement.lineno - 1 : statement.end_lineno]
        text = "".join(lines)
        self.rewritten += len(text)
        if self.rewritten > limits.MOST_REWRITTEN_TEXT:
            return None, "the file has too many fixes to make all"
        if not self.is_parsable(statement, text, is_whole=True):
            return None, "its statement is too long or too deep to rewrite"
        problem = verdict.problem
        key = (verdict.rule.code, id(statement), replace(problem, once=None, reads=None))
        try:
            if key not in self.fixes:
                self.fixes[key] = self.fix(verdict.rule, problem, statement)
            return self.fixes[key]
        except Exception as problem:
            why(problem)  # raises it for who looks for its cause
            return None, "its rewrite failed"

    def fix(self, rule: Rule, problem: Problem, statement: ast.stmt) -> tuple[Fix | None, str]:
        from breakscope.static.findings.rewrites import rewritten  # imports libcst

        made = rewritten(
            rule, problem, self.module.tree, statement, self.lines, self.indentation, self.names
        )
        if made.declined:
            return None, made.declined
        first, *also = made.edits
        imports = made.imports
        if any("torch." in edit.replacement for edit in made.edits):
            found = self.names_of_torch.import_for(statement)
            if found is None:
                return None, "the name `torch` is something else here"
            imports = (*found, *imports)
        made_fix = Fix(
            safety=made.safety or rule.fix,
            description=problem.help,
            line=first.line,
            end_line=first.end_line,
            replacement=first.replacement,
            imports=tuple(dict.fromkeys(imports)),
            also=tuple(also),
            changes=made.changes,
        )
        return made_fix, ""

    @cached_property
    def names_of_torch(self) -> NamesOfTorch:
        """What the file's scopes bind the name `torch` to."""
        return NamesOfTorch(self.module.tree)

    @cached_property
    def indentation(self) -> str:
        """One level of the file's indentation: that of its first body which begins on a line of its
        own."""
        for node in self.module.tree.body:
            header_end = self.spans.span(node).header_end
            if header_end is not None:
                line, column = header_end
                lead = self.lines[line - 1][:column]
                if column and not lead.strip():
                    return lead
        return "    "


def links(verdict: Verdict) -> tuple[Link, ...]:
    """The calls from the region's entry to the finding, outermost first; empty when the region
    itself holds it. For an installed library's code they lead through the finding's line to the
    place inside."""
    steps = [
        _link(activation, call)
        for activation, call in verdict.chain[:-1]
        if activation.function and getattr(call, "lineno", 0)
    ]
    return _shortened([*steps, *_inside(verdict)])


def inside(verdict: Verdict) -> Inside:
    """The place inside an installed library, by the calls from the entered function."""
    problem, chain = verdict.problem, _inside(verdict)[1:]
    return Inside(message=problem.message, brief=problem.brief, chain=_shortened(chain))


def _inside(verdict: Verdict) -> list[Link]:
    return [_link(activation, node) for activation, node in verdict.inside]


def _link(activation: Activation, node: ast.AST) -> Link:
    # without a function: of the class or factory whose code is the library's
    name = activation.function or node.name
    return Link(path=relative_path(activation.module.path), line=node.lineno, function=name)


def _shortened(steps: list[Link]) -> tuple[Link, ...]:
    if len(steps) > limits.MOST_CHAIN_LINKS:
        steps = [*steps[: limits.MOST_CHAIN_LINKS // 2], *steps[-limits.MOST_CHAIN_LINKS // 2 :]]
    return tuple(steps)


def _characters(line: str, offset: int) -> int:
    """ast counts columns in UTF-8 bytes."""
    return offset if line.isascii() else len(encoded(line)[:offset].decode(errors="replace"))
