"""Functions of the file: what their parameters get, and how they run."""

from __future__ import annotations

import _ast

from breakscope.plain.classes import Class
from breakscope.plain.kinds import NONE, NUMBER, REST, STATIC, Data, Function, NotPlain, Rest, Self, join, joined, same
from breakscope.plain.objects import Frame

RUNNING = (None, 0)
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
        more: object = NONE
        others: object = NONE
        left = list(found) if REST in named else ()
        for at, kind in enumerate(args):
            if type(kind) is Rest:
                more = join(more, kind.kind)
                for name in names[at:]:
                    found[name] = join(found[name], kind.kind)
                left = [name for name in left if name not in names[at:]]
            elif at < len(names):
                found[names[at]] = kind
            else:
                more = join(more, kind)
        left = [name for name in left if name not in names[: len(args)]]
        for name, kind in named.items():
            if name in found:
                found[name] = kind
            else:
                others = join(others, kind)
        for name in left:
            if name not in named:
                found[name] = join(found[name], named[REST])
        if more != NONE and spec.vararg is None and len(args) > len(names) or others != NONE and spec.kwarg is None:
            if not (len(args) <= len(names) and named.keys() <= {*found, REST}):
                self.fail()
        if spec.vararg:
            found[spec.vararg.arg] = self.many(spec.vararg, "list").widen(more)
        if spec.kwarg:
            found[spec.kwarg.arg] = self.many(spec.kwarg, "dict").widen(others)
        for p in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            if p.annotation is not None and found.get(p.arg) == NUMBER and declared[p.arg] not in STATIC:
                found[p.arg] = declared[p.arg]  # the analyzer takes what it does not know for what is declared
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
        return frame.result
