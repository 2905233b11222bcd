"""Functions of the file: what their parameters get, and how they run."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.kinds import (
    ANSWER,
    NONE,
    NUMBER,
    REST,
    SIZES,
    STATIC,
    Data,
    Function,
    Many,
    NotPlain,
    Rest,
    Self,
    before_rest,
    join,
    joined,
    same,
    settled,
)
from breakscope.plain.objects import Frame

RUNNING = (None, 0)
OPEN = frozenset({NUMBER, ANSWER, SIZES})
MOST_CALLS = 12  # of functions inside each other


class Functions:
    """How functions, methods and lambdas of the file run."""

    def call_closure(self, function: Function, args: list, named: dict) -> object:
        """A function or lambda of the file; what is defined inside another one sees that one's names."""
        frame = function.frame
        if frame is None:
            return self.call_function(function.node, None, None, args, named)
        if frame.is_partial and not frame.is_open:
            return self.fail()
        scope = frame.names if function.names is None else joined(function.names, frame.names)
        return self.call_function(function.node, frame.cls, None, args, named, scope)

    def closure(self, node, frame) -> Function:
        """The function that a `def` or `lambda` inside another function makes."""
        made = self.sites.get((node, self.strict))
        if made is None:
            made = self.sites[node, self.strict] = Function(node, frame)
            self.files.homes[node] = self.source
        elif made.frame is not frame:
            before = made.frame.names if made.names is None else joined(made.names, made.frame.names)
            if made.names is None or not same(before, made.names):
                self.clock.now += made.names is not None
                made.names = before
            made.frame = frame
        return made

    def call_function(
        self, node, cls: Class | None, owner: Self | Data | None, args: list, named: dict, scope: dict | None = None
    ) -> object:
        """A function or method of a file; in a region once for all calls with arguments of the same kinds."""
        before = self.source
        self.source = self.files.homes.get(node, before)
        found = self.call_here(node, cls, owner, args, named, scope)
        self.source = before
        return found

    def call_here(
        self, node, cls: Class | None, owner: Self | Data | None, args: list, named: dict, scope: dict | None
    ) -> object:
        names = self.bind(node, owner, args, named)
        if scope is not None:
            return self.run_function(node, cls, owner, {**scope, **names})
        if not self.strict:
            return self.run_function(node, cls, owner, names)
        key = (node, owner, self.clock.now, *names.values())
        known = self.results.get(key)
        if known is None:
            before, self.results[key] = self.raised, RUNNING
            found = self.run_function(node, cls, owner, names)
            self.results[key] = found, self.raised - before
            return found
        if known is RUNNING:
            raise NotPlain  # a recursion is not followed
        self.raised += known[1]
        return known[0]

    def bind(self, node, owner: object, args: list, named: dict) -> dict:
        """The parameters' kinds."""
        spec = node.args
        skip = 1 if owner is not None else 0
        declared = self.parameters(node, skip, getattr(node, "name", "") == "__init__")
        found = declared | self.defaults(node)
        names = [p.arg for p in [*spec.posonlyargs, *spec.args]][skip:]
        certain = before_rest(args)
        found.update(zip(names, args[:certain]))
        more: object = NONE  # what `*args` of the function gets
        for kind in args[min(certain, len(names)) :]:
            kind = kind.kind if type(kind) is Rest else kind
            more = join(more, kind)
            for name in names[certain:]:
                found[name] = join(found[name], kind)
        others: object = NONE  # and its `**kwargs`
        for name, kind in named.items():
            if name in found:
                found[name] = kind
            else:
                others = join(others, kind)
        for name in found.keys() - named.keys() - set(names[:certain]) if REST in named else ():
            found[name] = join(found[name], named[REST])
        is_too_much = certain > len(names) and spec.vararg is None
        if is_too_much or spec.kwarg is None and not named.keys() <= {*found, REST}:
            self.fail()
        return self.filled(spec, declared, found, more, others)

    def filled(self, spec, declared: dict, found: dict, more: object, others: object) -> dict:
        """The kinds with those of `*args` and `**kwargs`; what is not known is taken for what is declared."""
        for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            if p.annotation is not None and found.get(p.arg) == NUMBER and declared[p.arg] not in STATIC:
                found[p.arg] = declared[p.arg]
        if spec.vararg:
            found[spec.vararg.arg] = self.many(spec.vararg, "list").widen(more)
        if spec.kwarg:
            found[spec.kwarg.arg] = self.many(spec.kwarg, "dict").widen(others)
        return found

    def run_function(self, node, cls: Class | None, owner: object, names: dict) -> object:
        if self.depth > MOST_CALLS or node in self.source.clever:
            return self.fail()
        if owner is not None and node.args.args:
            names[node.args.args[0].arg] = owner
        frame = Frame(names, owner, cls)
        self.ran.add(node)
        self.depth += 1
        if type(node) is _ast.Lambda:
            frame.result = self.eval(node.body, frame)
        else:
            self.block(node.body, frame)
        frame.is_open = False
        self.depth -= 1
        returns = getattr(node, "returns", None)
        return frame.result if returns is None else self.told(frame.result, returns)

    def told(self, result: object, annotation) -> object:
        """The result; what nothing is known of is also what the annotation says, as the analyzer takes it."""
        if not _is_open(result):
            return result
        said = self.annotated(annotation)
        if said is None and self.source.names_variable(annotation):
            return self.fail()
        return result if said is None or said in STATIC else _filled(result, said)


def _is_open(kind: object) -> bool:
    """True for what the analyzer may know nothing of, and for what holds it."""
    if type(kind) is tuple:
        return any(map(_is_open, kind))
    kind = kind.element if type(kind) is Many else kind
    return kind in OPEN if type(kind) is str else type(kind) is tuple and _is_open(kind)


def _filled(result: object, said: object) -> object:
    """The kinds of the result joined with what is said, where they are open."""
    if not _is_open(result):
        return result
    if type(result) is tuple:
        parts = said if type(said) is tuple and len(said) == len(result) else [_element(said)] * len(result)
        return tuple([_filled(*pair) for pair in zip(result, parts)])
    if type(result) is Many:
        return result.widen(_element(said))
    return join(result, said)


def _element(kind: object) -> object:
    return kind.element if type(kind) is Many else settled(kind)
