"""Simple statements and definitions."""

from __future__ import annotations

import ast

from breakscope.events import Call, Statement
from breakscope.static.frames import GO_ON, LEAVE_LOOP, RAISE, RETURN, Frame, OutOfBudget, Raised
from breakscope.static.library import COMPILING
from breakscope.static.modules import ClassInfo, Import, ModuleInfo, Namespace, function_info
from breakscope.static.program import absolute_name
from breakscope.values import NONE, UNKNOWN, Class, Dict, External, Function, Instance, Py, Sequence, Value

BUDGET = 60_000  # statements run for one region: far above what real models need, an end for all others


class Statements:
    """How each statement changes a frame. Each `exec_` returns GO_ON, RETURN, RAISE or LEAVE_LOOP."""

    __slots__ = ()

    def run_module_body(self, module: ModuleInfo, frame: Frame) -> None:
        """Run a module's top level; a statement that cannot be followed does not stop the next."""
        for statement in module.tree.body:
            try:
                self.exec_table[type(statement)](statement, frame)
            except Raised:
                pass
            module.names = frame.names  # another object behind every branch

    def exec_block(self, body: list[ast.stmt], frame: Frame) -> int:
        self.work += len(body)
        if self.work > BUDGET:
            raise OutOfBudget
        for statement in body:
            status = self.exec_table[type(statement)](statement, frame)
            if status:
                return status
        return GO_ON

    def exec_path(self, body: list[ast.stmt], frame: Frame) -> int:
        """Run one of several possible paths: an exception ends the path, not the function."""
        try:
            return self.exec_block(body, frame)
        except Raised:
            return RAISE

    def exec_Expr(self, node: ast.Expr, frame: Frame) -> int:
        if type(node.value) is not ast.Constant:
            self.for_effect = node.value
            self.eval(node.value, frame)
        return GO_ON

    def exec_Pass(self, node, frame: Frame) -> int:
        return GO_ON

    def exec_Assign(self, node: ast.Assign, frame: Frame) -> int:
        value = self.eval_table[type(node.value)](node.value, frame)
        for target in node.targets:
            if type(target) is ast.Name:
                self.assign_name(target, value, frame, node, None)
            else:
                self.assign(target, value, frame, node)
        return GO_ON

    def exec_AnnAssign(self, node: ast.AnnAssign, frame: Frame) -> int:
        if node.value is None:
            return GO_ON
        value = self.eval(node.value, frame)
        if value.is_unknown:
            value = self.value_of_annotation(node.annotation, frame)
        self.assign(node.target, value, frame, node)
        return GO_ON

    def exec_TypeAlias(self, node, frame: Frame) -> int:
        """`type Pair = tuple[int, int]`, since Python 3.12; what it stands for is asked where an annotation names it."""
        frame.names[node.name.id] = UNKNOWN
        return GO_ON

    def exec_AugAssign(self, node: ast.AugAssign, frame: Frame) -> int:
        target = node.target
        if type(target) is ast.Subscript:
            container, index = self.eval(target.value, frame), self.masked(target.slice, self.eval(target.slice, frame))
            value = self.eval(node.value, frame)
            old = self.item(target, container, index, frame, store="+=")
            new = self.binary(node, old, value, frame)
            if not container.is_tensor:
                self.store_item(target, container, index, new, frame, node, augmented=True)
            return GO_ON
        load = (
            ast.Name(target.id, ast.Load())
            if type(target) is ast.Name
            else ast.Attribute(target.value, target.attr, ast.Load())
        )
        ast.copy_location(load, target)
        old = self.eval(load, frame)
        value = self.eval(node.value, frame)
        if isinstance(old, Sequence) and isinstance(node.op, ast.Add) and old.type in ("list", "deque"):
            self.extend(old, value, frame, node, "extend")
            return GO_ON
        self.assign(target, self.binary(node, old, value, frame), frame, node, old)
        return GO_ON

    def exec_Delete(self, node: ast.Delete, frame: Frame) -> int:
        for target in node.targets:
            if type(target) is ast.Name:
                frame.names.pop(target.id, None)
            elif type(target) is ast.Subscript:
                container, key = self.eval(target.value, frame), self.eval(target.slice, frame)
                if isinstance(container, Dict):
                    container.open = True
                elif frame.emits and isinstance(container, Py) and self.interesting(f"{container.type}.__delitem__"):
                    name = f"{container.type}.__delitem__"
                    self.emit(Call, target, frame, name=name, receiver=container, args=(key,), kwargs={})
        return GO_ON

    def exec_Return(self, node: ast.Return, frame: Frame) -> int:
        value = self.eval(node.value, frame) if node.value is not None else NONE
        if value is COMPILING:  # the paths before are for a torch that cannot say so
            frame.returns.clear()
        frame.returns.append(value)
        return RETURN

    def exec_Raise(self, node: ast.Raise, frame: Frame) -> int:
        value = self.eval(node.exc, frame) if node.exc is not None else frame.handled or UNKNOWN
        if isinstance(value, Instance):
            self.emit(Statement, node, frame, construct="raise object", name=value.cls.info.name, value=value)
        raise Raised(value)

    def exec_Assert(self, node: ast.Assert, frame: Frame) -> int:
        before = frame.names
        message = UNKNOWN
        if node.msg is not None:
            frame.names = dict(before)
            emits, frame.emits = frame.emits, False
            try:
                message = self.eval(node.msg, frame)
            except Raised:
                pass
            frame.emits, frame.names = emits, before
        literal = node.msg is None or _is_folded(node.msg)
        truth = self.test(
            node.test,
            frame,
            "assert",
            raises=True,
            message=message,
            has_message=node.msg is not None,
            literal_message=literal,
        )
        if truth is False:
            raise Raised(External("AssertionError"))
        self.narrow(node.test, True, frame)
        return GO_ON

    def exec_Global(self, node: ast.Global, frame: Frame) -> int:
        frame.globals_ = {*frame.globals_, *node.names}
        return GO_ON

    def exec_Nonlocal(self, node: ast.Nonlocal, frame: Frame) -> int:
        frame.nonlocals = {*frame.nonlocals, *node.names}
        return GO_ON

    def exec_Import(self, node: ast.Import, frame: Frame) -> int:
        for alias in node.names:
            self.emit_import(node, alias.name, frame)
            if alias.asname:
                frame.names[alias.asname] = Import(alias.name, "", frame.module)
            else:
                root = alias.name.partition(".")[0]
                frame.names[root] = Import(root, "", frame.module)
        return GO_ON

    def emit_import(self, node: ast.stmt, module: str, frame: Frame) -> None:
        """`value` is the module's Namespace where an import that may fail finds it in the checked source."""
        if frame.emits and module:
            found = self.program.find(module, frame.module) if frame.caught else None
            value = Namespace(found) if found is not None else UNKNOWN
            self.emit(Statement, node, frame, construct="import", name=module, value=value)

    def exec_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> int:
        module = absolute_name(frame.module.name, frame.module.is_package, node.module, node.level)
        self.emit_import(node, module, frame)
        for alias in node.names:
            if alias.name == "*":
                found = self.program.find(module, frame.module)
                if found is not None and not found.executing:
                    public = {k: v for k, v in self.module_names(found).items() if not k.startswith("_")}
                    frame.names.update(public)
            else:
                frame.names[alias.asname or alias.name] = Import(module, alias.name, frame.module)
        return GO_ON

    def exec_Break(self, node, frame: Frame) -> int:
        frame.breaks.append(frame.names)
        return self.exec_Continue(node, frame)

    def exec_Continue(self, node, frame: Frame) -> int:
        frame.exits.append(frame.names)
        return LEAVE_LOOP

    def exec_FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> int:
        info = function_info(frame.module, node, frame.prefix)
        value: Value = Function(info, scope=frame if frame.function else None)
        if frame.function:
            self.scopes.setdefault(frame.module, []).append(frame)
        info.defaults = None if frame.function else info.defaults
        self.defaults(info, frame)
        frame.names[node.name] = self.decorate(node, value, frame)
        return GO_ON

    exec_AsyncFunctionDef = exec_FunctionDef

    def exec_ClassDef(self, node: ast.ClassDef, frame: Frame) -> int:
        info = frame.module.classes.get(id(node))
        if info is None:
            qualname = f"{frame.prefix}.{node.name}" if frame.prefix else node.name
            info = ClassInfo(node.name, qualname, node, frame.module, frame if frame.function else None)
            frame.module.classes[id(node)] = info
        value = Class(info)
        for decorator in node.decorator_list:
            made = self.resolve(self.eval(decorator.func if type(decorator) is ast.Call else decorator, frame))
            if isinstance(made, External):
                info.decorators |= {made.name}
            elif isinstance(made, Function):
                self.decorate_class(decorator, made, value, frame)
        frame.names[node.name] = value
        if frame.emits:
            self.emit(Statement, node, frame, construct="class", name=node.name)
        return GO_ON

    def decorate_class(self, decorator: ast.expr, made: Function, value: Class, frame: Frame) -> None:
        """Run a class decorator of the checked source for its effects, such as entering the class into a registry."""
        try:
            deco = (
                self.call_value(made, *self.arguments(decorator, frame), decorator, frame)
                if type(decorator) is ast.Call
                else made
            )
            self.call_value(deco, [value], {}, decorator, frame)
        except Raised:
            pass


def _is_folded(node: ast.expr) -> bool:
    """True for what the compiler makes one constant of, as Dynamo wants an assert's message: "a" + "b", ("a", 1)."""
    if isinstance(node, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) for part in node.values)
    if isinstance(node, ast.Tuple):
        return all(_is_folded(part) for part in node.elts)
    if isinstance(node, ast.BinOp):
        formats = (
            isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        return not formats and _is_folded(node.left) and _is_folded(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_folded(node.operand)
    if isinstance(node, ast.Subscript):
        return _is_folded(node.value) and _is_folded(node.slice)
    return isinstance(node, ast.Constant)
