"""The plain use of torch.compile: a module is wrapped once, on a line of its own in a function that no loop calls, or
under `if __name__ == "__main__"`, and the result is only called. About that no rule has anything to say."""

from __future__ import annotations

import _ast
from _collections_abc import Iterable

from breakscope.plain.bindings import BLOCKS, DEFINITIONS
from breakscope.walking import children, walk

MODES = (None, "default", "max-autotune-no-cudagraphs")  # the others record CUDA graphs, whose outputs are followed
SETTINGS = {"mode": MODES, "backend": ("inductor",), "fullgraph": (True, False), "dynamic": (None, True), "disable": (False,)}
FREE = frozenset({"train", "eval", "parameters"})  # methods of the wrapper that are the module's own
SAME = frozenset("to cuda cpu train eval half float double bfloat16 requires_grad_".split())  # return the module itself
CLOCKS = frozenset("time perf_counter monotonic process_time time_ns perf_counter_ns default_timer".split())
LOOPS = (_ast.For, _ast.AsyncFor, _ast.While, _ast.ListComp, _ast.SetComp, _ast.DictComp, _ast.GeneratorExp)
INNER = (*DEFINITIONS, _ast.Lambda, _ast.ClassDef)
TRIES = tuple(getattr(_ast, name) for name in ("Try", "TryStar") if hasattr(_ast, name))
DEEPEST = 4  # functions that hand on what others made


class Scope:
    """The statements of a function, or those under `if __name__ == "__main__"`; `function` is None for these."""

    def __init__(self, body: list[_ast.stmt], function: _ast.FunctionDef | None = None) -> None:
        self.body = body
        self.function = function
        self.nodes: list[tuple[_ast.AST, bool, bool]] = []  # with whether it is in an inner function, and in a loop
        waiting = [(node, False, False) for node in body]
        while waiting:
            node, inner, loop = waiting.pop()
            self.nodes.append((node, inner, loop))
            inner, loop = inner or type(node) in INNER, loop or type(node) in LOOPS
            waiting += [(part, inner, loop) for part in children(node)]

    def of_type(self, kind) -> list:
        return [node for node, _, _ in self.nodes if isinstance(node, kind)]

    def assigned(self, name: str) -> list[_ast.stmt]:
        """The assignments that give a name its value; what binds it otherwise counts as one, too."""
        parts = {n: [part for target in n.targets for part in _names_in(target)] for n in self.of_type(_ast.Assign)}
        plain = [n for n, names in parts.items() if any(part.id == name for part in names)]
        known = {part for n in plain for part in parts[n]}
        others = [n for n in self.of_type(_ast.Name) if n.id == name and type(n.ctx) is not _ast.Load and n not in known]
        others += [n for n in self.of_type((_ast.Global, _ast.Nonlocal)) if name in n.names]
        return [*plain, *others, *[n for n, _, _ in self.nodes if _is_named(n, name)]]


class Wrapping:
    """The look at how one file uses torch.compile."""

    def __init__(self, source) -> None:
        self.source = source
        self._everything: Scope | None = None
        self._scopes: dict[_ast.FunctionDef, Scope] = {}

    def is_harmless(self, wraps: list[_ast.Attribute]) -> bool:
        """True when no rule speaks of any of these `torch.compile`, and none of them makes a function of the file a
        region."""
        holders = self.holders(wraps)
        tests = [node for holder in holders for node in walk(holder) if type(node) is _ast.If or type(node) is _ast.IfExp]
        left = set(wraps).difference(*map(_asked, tests))
        for scope in self.around(self.holders(left)):
            for statement in scope.body:
                call = _wrap_of(statement)
                if call is not None and call.func in left:
                    left.discard(call.func)
                    if not self.is_plain(scope, statement, call):
                        return False
        return not left

    @property
    def everything(self) -> Scope:
        """The whole file."""
        if self._everything is None:
            self._everything = Scope(self.source.tree.body)
        return self._everything

    def holders(self, wraps: Iterable[_ast.Attribute]) -> list[_ast.stmt]:
        """The statements at the top of the file that hold these."""
        lines = [wrap.lineno for wrap in wraps]
        return [n for n in self.source.tree.body if any(n.lineno <= line <= n.end_lineno for line in lines)]

    def around(self, holders: list[_ast.stmt]) -> list[Scope]:
        """The functions, and the blocks under `if __name__ == "__main__"`, among statements at the top of the file."""
        functions = [self.scope(node) for node in holders if type(node) is _ast.FunctionDef]
        return functions + [Scope(node.body) for node in holders if _is_main(node)]

    def scope(self, function: _ast.FunctionDef) -> Scope:
        found = self._scopes.get(function)
        if found is None:
            found = self._scopes[function] = Scope(function.body, function)
        return found

    def is_plain(self, scope: Scope, statement: _ast.Assign, call: _ast.Call) -> bool:
        name = statement.targets[0].id
        if self.source.dotted(call.func) != "torch.compile" or len(call.args) != 1 or type(call.args[0]) is not _ast.Name:
            return False
        if type(statement.value) is _ast.IfExp and statement.value.orelse.id != call.args[0].id:
            return False
        if not all(map(_is_plain_setting, call.keywords)):
            return False
        fullgraph = any(k.arg == "fullgraph" and k.value.value for k in call.keywords)
        if fullgraph and self.everything.of_type(TRIES):
            return False
        if not self.is_only_called(scope, name, statement) or self.is_shared(scope, name):
            return False
        return self.is_model(scope, call.args[0], statement, DEEPEST)  # which takes the longest

    def is_only_called(self, scope: Scope, name: str, wrap: _ast.Assign | None, depth: int = DEEPEST) -> bool:
        """True when nothing is done with the name behind its wrapping (anywhere, for a parameter) but to call it, in this
        function itself or in one of the file that it is handed to."""
        first, last = (_start(wrap), (wrap.end_lineno, wrap.end_col_offset)) if wrap is not None else ((0, 0), (0, 0))
        calls = [node for node in scope.of_type(_ast.Call) if type(node.func) is _ast.Name and node.func.id == name]
        methods = [node.func for node in scope.of_type(_ast.Call) if type(node.func) is _ast.Attribute and node.func.attr in FREE]
        handed_on = self.handed_on(scope, name, depth)
        allowed = {*(call.func for call in calls), *(method.value for method in methods), *handed_on}
        texts = {part.id for node in scope.of_type(_ast.Assign) if type(node.value) is _ast.JoinedStr
                 for target in node.targets for part in _names_in(target)}
        for node, inner, loop in scope.nodes:
            if type(node) is _ast.Name and node.id == name:
                if inner or _start(node) >= last and node not in allowed:
                    return False
            elif type(node) in (_ast.Global, _ast.Nonlocal) and name in node.names:
                return False
            elif type(node) is _ast.Assign and loop and any(type(target) is _ast.Attribute for target in node.targets):
                return False  # an attribute of the module that counts up, perhaps
        given = [part for call in calls for part in (*call.args, *(k.value for k in call.keywords))]
        if any(type(part) is _ast.JoinedStr or type(part) is _ast.Name and part.id in texts for part in given):
            return False
        is_used = any(_start(node) >= last for node in (*handed_on, *calls))
        return is_used and not _is_clocked(scope, name) and not any(first < _start(node) for node in scope.assigned(name))

    def handed_on(self, scope: Scope, name: str, depth: int) -> list[_ast.Name]:
        """Where the name is an argument of a function of the file that does nothing but call it."""
        found: list[_ast.Name] = []
        for call in scope.of_type(_ast.Call) if depth else ():
            function = self.source.functions.get(call.func.id) if type(call.func) is _ast.Name else None
            if type(function) is not _ast.FunctionDef or function.name in self.source.twice or function.decorator_list:
                continue
            parameters = [*function.args.posonlyargs, *function.args.args]
            given = {part.arg: value for part, value in zip(parameters, call.args)} | {k.arg: k.value for k in call.keywords}
            if any(type(value) is _ast.Starred for value in call.args):
                continue
            for parameter in parameters:
                value = given.get(parameter.arg)
                if type(value) is _ast.Name and value.id == name:
                    if self.is_only_called(self.scope(function), parameter.arg, None, depth - 1):
                        found.append(value)
        return found

    def is_shared(self, scope: Scope, name: str) -> bool:
        """True when a loop calls the function, or the name is a global that other code may read."""
        if scope.function is not None:
            called = scope.function.name
            return any(loop and type(node) is _ast.Name and node.id == called for node, _, loop in self.everything.nodes)
        known = {node for node, _, _ in scope.nodes}
        for function in self.everything.of_type((*DEFINITIONS, _ast.Lambda)):
            inside = Scope([function])
            own = {part.arg for part in inside.of_type(_ast.arg)}
            own |= {node.id for node in inside.of_type(_ast.Name) if type(node.ctx) is _ast.Store}
            known.update(node for node in inside.of_type(_ast.Name) if name in own)
        return any(node.id == name and node not in known for node in self.everything.of_type(_ast.Name))

    def is_model(self, scope: Scope, node: _ast.expr, wrap: _ast.stmt | None, depth: int) -> bool:
        """True when a value can only be a module, and no function of the file: that would be a region."""
        kind = type(node)
        if depth == 0:
            return False
        if kind is _ast.Name:
            found = [made for made in scope.assigned(node.id) if made is not wrap]
            declared = self.declared(scope.function, node.id)
            if len(found) > 1 or not found and not declared:
                return False
            return not found or not declared and type(found[0]) is _ast.Assign and self.is_made(scope, found[0], node.id, depth)
        if kind is _ast.IfExp:
            return all(self.is_model(scope, part, wrap, depth) for part in (node.body, node.orelse))
        if kind is not _ast.Call:
            return False
        func = node.func
        if type(func) is _ast.Attribute and func.attr in SAME and self.is_model(scope, func.value, wrap, depth):
            return True
        if type(func) is _ast.Subscript and type(func.value) is _ast.Name:
            entries = self.entries(func.value.id)
            return bool(entries) and all(self.gives_model(made, depth) for made in entries)
        if self.source.dotted(func).startswith("torch.nn."):
            return func.attr[:1].isupper() if type(func) is _ast.Attribute else func.id[:1].isupper()
        made = self.source.class_of(func) or (self.source.functions.get(func.id) if type(func) is _ast.Name else None)
        return made is not None and self.gives_model(made, depth)

    def is_made(self, scope: Scope, statement: _ast.Assign, name: str, depth: int) -> bool:
        """True when an assignment gives the name a module; of several names, what a function of the file returns beside."""
        target, value = statement.targets[0], statement.value
        if len(statement.targets) > 1:
            return False
        if type(target) is _ast.Name:
            return self.is_model(scope, value, statement, depth)
        if type(target) is not _ast.Tuple or type(value) is not _ast.Call or type(value.func) is not _ast.Name:
            return False
        names = [part.id if type(part) is _ast.Name else "" for part in target.elts]
        function = self.source.functions.get(value.func.id)
        return name in names and function is not None and self.gives_model(function, depth, names.index(name))

    def gives_model(self, made, depth: int, position: int | None = None) -> bool:
        """True for a module class, and for a function that returns nothing but modules (at a position, in tuples)."""
        if type(made) not in DEFINITIONS:
            return getattr(made, "is_module", False)
        if type(made) is not _ast.FunctionDef or made.name in self.source.twice:
            return False
        registrars = [d for d in made.decorator_list if not self.source.registry(d)]
        scope = self.scope(made)
        if registrars or scope.of_type((_ast.Yield, _ast.YieldFrom)):
            return False
        returned = [node.value for node, inner, _ in scope.nodes if type(node) is _ast.Return and not inner]
        if position is not None:
            returned = [v.elts[position] if type(v) is _ast.Tuple and position < len(v.elts) else None for v in returned]
        return bool(returned) and all(self.is_model(scope, value, None, depth - 1) for value in returned)

    def entries(self, name: str) -> list:
        """The classes and functions that a dict at the top of the file lists by name, or that decorators put there; none
        where it holds anything else."""
        display = self.source.constants.get(name)
        if type(display) is not _ast.Dict or not self.source.is_only_read(name):
            return []
        found: list = [*self.source.registered.get(name, ())]
        for value in display.values:
            found.append(self.source.class_of(value) or self.source.functions.get(getattr(value, "id", "")))
        return found if all(found) else []

    def declared(self, function: _ast.FunctionDef | None, name: str) -> bool:
        """True for a parameter that is declared as a module."""
        args = function.args if function is not None else None
        for part in (*args.posonlyargs, *args.args, *args.kwonlyargs) if args else ():
            if part.arg == name and part.annotation is not None:
                made = self.source.class_of(part.annotation)
                return self.source.dotted(part.annotation) == "torch.nn.Module" or made is not None and made.is_module
        return False


def _is_main(node: _ast.stmt) -> bool:
    test = node.test if type(node) is _ast.If else None
    return type(test) is _ast.Compare and type(test.left) is _ast.Name and test.left.id == "__name__"


def _asked(node: _ast.If | _ast.IfExp) -> list[_ast.expr]:
    """What a test asks for its truth, as `if args.compile` does: whatever that is, it wraps nothing."""
    found = [node.test]
    for part in found:
        found += getattr(part, "values", ()) if type(part) is _ast.BoolOp else ()
        found += [part.operand] if type(part) is _ast.UnaryOp else []
    return found


def _wrap_of(statement: _ast.stmt) -> _ast.Call | None:
    """The call of `name = torch.compile(...)` and `name = torch.compile(model) if ... else model`."""
    if type(statement) is not _ast.Assign or len(statement.targets) != 1 or type(statement.targets[0]) is not _ast.Name:
        return None
    value = statement.value
    if type(value) is _ast.IfExp and type(value.orelse) is _ast.Name:
        value = value.body
    return value if type(value) is _ast.Call else None


def _is_plain_setting(keyword: _ast.keyword) -> bool:
    return type(keyword.value) is _ast.Constant and keyword.value.value in SETTINGS.get(keyword.arg, ())


def _is_clocked(scope: Scope, name: str) -> bool:
    """True when a clock is read right before what may be nothing but calls of the name."""
    blocks = [scope.body, *(getattr(node, block, None) for node, _, _ in scope.nodes for block in BLOCKS)]
    for block in blocks:
        if type(block) is list:
            for first, second in zip(block, block[1:]):
                value = getattr(first, "value", None)
                read = getattr(value.func, "attr", getattr(value.func, "id", "")) if type(value) is _ast.Call else ""
                if read in CLOCKS and _may_begin_calls(second, name):
                    return True
    return False


def _may_begin_calls(statement: _ast.stmt, name: str) -> bool:
    kind = type(statement)
    if kind is _ast.With or kind is _ast.For:
        return _may_begin_calls(statement.body[0], name)
    value = statement.value if kind is _ast.Expr or kind is _ast.Assign else None
    if type(value) is not _ast.Call:
        return False
    return type(value.func) is not _ast.Name or value.func.id == name


def _is_named(node: _ast.AST, name: str) -> bool:
    """True for a definition, an import, a handler or a pattern that binds the name."""
    bound = (getattr(node, "name", None), getattr(node, "asname", None), getattr(node, "rest", None))
    return any(type(word) is str and word.partition(".")[0] == name for word in bound)


def _start(node) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _names_in(target: _ast.expr) -> list[_ast.Name]:
    found = [target] if type(target) is _ast.Name else []
    for part in getattr(target, "elts", ()):
        found += _names_in(part)
    return found + (_names_in(target.value) if type(target) is _ast.Starred else [])
