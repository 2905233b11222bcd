"""Statements: control flow, assignment, definitions."""

from __future__ import annotations

import ast

from breakscope.events import Branch, Enter, Statement, Store
from breakscope.static.frames import GO_ON, LEAVE_LOOP, RAISE, RETURN, Frame, OutOfBudget, Raised
from breakscope.static.joins import element_of, join, join_all, join_names
from breakscope.static.program import ClassInfo, Import, ModuleInfo, absolute_name, function_info
from breakscope.values import (
    NONE, UNKNOWN, Class, Const, Dict, External, ExternalInstance, Function, Instance, Sequence, Union, Value, options,
)

CONTAINERS = (Sequence, Dict)
BUDGET = 60_000  # statements run for one region: far above what real models need, an end for all others
STATES = {"torch.autocast": "autocast", "torch.amp.autocast": "autocast", "torch.cpu.amp.autocast": "autocast",
          "torch.cuda.amp.autocast": "autocast", "torch.no_grad": "grad_mode", "torch.inference_mode": "grad_mode",
          "torch.enable_grad": "grad_mode", "torch.set_grad_enabled": "grad_mode"}


class Statements:
    """How each statement changes a frame. Each `exec_` returns GO_ON, RETURN, RAISE or LEAVE_LOOP."""

    def run_module_body(self, module: ModuleInfo, frame: Frame) -> None:
        """Run a module's top level; a statement that cannot be followed does not stop the next."""
        for statement in module.tree.body:
            try:
                self.exec_table[type(statement)](statement, frame)
            except Raised:
                pass

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

    # --- simple statements

    def exec_Expr(self, node: ast.Expr, frame: Frame) -> int:
        if type(node.value) is not ast.Constant:
            self.for_effect = node.value
            self.eval(node.value, frame)
        return GO_ON

    def exec_Pass(self, node, frame: Frame) -> int:
        return GO_ON

    def exec_Assign(self, node: ast.Assign, frame: Frame) -> int:
        value = self.eval(node.value, frame)
        for target in node.targets:
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

    def exec_AugAssign(self, node: ast.AugAssign, frame: Frame) -> int:
        target = node.target
        if type(target) is ast.Subscript:
            container, index = self.eval(target.value, frame), self.eval(target.slice, frame)
            value = self.eval(node.value, frame)
            old = self.item(target, container, index, frame, store="+=")
            new = self.binary(node, old, value, frame)
            if not container.is_tensor:
                self.store_item(target, container, index, new, frame, node, augmented=True)
            return GO_ON
        load = ast.Name(target.id, ast.Load()) if type(target) is ast.Name else ast.Attribute(target.value, target.attr, ast.Load())
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
                container = self.eval(target.value, frame)
                self.eval(target.slice, frame)
                if isinstance(container, Dict):
                    container.open = True
        return GO_ON

    def exec_Return(self, node: ast.Return, frame: Frame) -> int:
        frame.returns.append(self.eval(node.value, frame) if node.value is not None else NONE)
        return RETURN

    def exec_Raise(self, node: ast.Raise, frame: Frame) -> int:
        value = self.eval(node.exc, frame) if node.exc is not None else frame.handled or UNKNOWN
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
        truth = self.test(node.test, frame, "assert", raises=True, message=message, has_message=node.msg is not None,
                          literal_message=literal)
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
            if alias.asname:
                frame.names[alias.asname] = Import(alias.name, "", frame.module)
            else:
                root = alias.name.partition(".")[0]
                frame.names[root] = Import(root, "", frame.module)
        return GO_ON

    def exec_ImportFrom(self, node: ast.ImportFrom, frame: Frame) -> int:
        module = absolute_name(frame.module, node.module, node.level)
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
        frame.exits.append(frame.names)
        return LEAVE_LOOP

    exec_Continue = exec_Break

    # --- definitions

    def exec_FunctionDef(self, node: ast.FunctionDef, frame: Frame) -> int:
        info = function_info(frame.module, node, frame.prefix)
        value: Value = Function(info, scope=frame if frame.function else None)
        if frame.function:
            self.scopes.append(frame)
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
            deco = self.call_value(made, *self.arguments(decorator, frame), decorator, frame) if type(decorator) is ast.Call else made
            self.call_value(deco, [value], {}, decorator, frame)
        except Raised:
            pass

    # --- branches and loops

    def exec_If(self, node: ast.If, frame: Frame) -> int:
        raises = all(type(s) is ast.Raise for s in node.body) and not node.orelse
        truth = self.test(node.test, frame, "if", raises=raises)
        if truth is True:
            self.narrow(node.test, True, frame)
            return self.exec_block(node.body, frame)
        if truth is False:
            self.narrow(node.test, False, frame)
            return self.exec_block(node.orelse, frame)
        return self.both_paths(node, frame)

    def both_paths(self, node: ast.If, frame: Frame) -> int:
        before, condition, certainty, undecided = frame.names, frame.condition, frame.certainty, frame.undecided
        frame.names, frame.undecided = dict(before), True
        if frame.emits and self.last_test_is_configuration:
            frame.condition = frame.condition or self.text(node.test, frame.module)
            frame.certainty = "possible" if self.rarely_true(node.test, frame) else certainty
        self.narrow(node.test, True, frame)
        first = self.exec_path(node.body, frame)
        frame.condition, frame.certainty = condition, certainty
        names, frame.names = frame.names, dict(before)
        self.narrow(node.test, False, frame)
        second = self.exec_path(node.orelse, frame) if node.orelse else GO_ON
        frame.undecided = undecided
        if first == second == RAISE:
            raise Raised(UNKNOWN)
        if first and second:
            return LEAVE_LOOP if LEAVE_LOOP in (first, second) else RETURN
        if first:
            return GO_ON
        frame.names = names if second else join_names(names, frame.names)
        return GO_ON

    def exec_While(self, node: ast.While, frame: Frame) -> int:
        lost, frame.lost = frame.lost, frame.lost or "loop"
        truth = self.test(node.test, frame, "while")
        if truth is not False:
            self.narrow(node.test, True, frame)
            self.run_loop_body(node, frame, None)
        frame.lost = lost
        return self.exec_path_of_else(node, frame)

    def exec_For(self, node: ast.For, frame: Frame) -> int:
        iterable = self.eval(node.iter, frame)
        element = self.iterate(iterable, node.iter, frame)
        if element is None:  # certainly empty
            return self.exec_path_of_else(node, frame)
        if self.driver is not None and frame.function is self.driver and isinstance(iterable, Sequence) and iterable.items is not None:
            for item in iterable.items:
                self.assign(node.target, item, frame, node)
                self.exec_path(node.body, frame)
            return GO_ON
        lost, frame.lost = frame.lost, frame.lost or "loop"
        self.run_loop_body(node, frame, (node.target, element))
        frame.lost = lost
        return self.exec_path_of_else(node, frame)

    exec_AsyncFor = exec_For

    def exec_path_of_else(self, node, frame: Frame) -> int:
        return self.exec_block(node.orelse, frame) if node.orelse else GO_ON

    def run_loop_body(self, node, frame: Frame, step) -> None:
        """Run a loop's body until what it knows no longer changes, at most twice more, and join with not running it."""
        before = frame.names
        outer_exits = frame.exits
        current = before
        for _ in range(2):
            frame.exits = []
            frame.names = dict(current)
            if step is not None:
                self.assign(step[0], step[1], frame, node)
            status = self.exec_path(node.body, frame)
            after = [*frame.exits, *([frame.names] if status in (GO_ON,) else [])]
            if not after:
                break
            merged = current
            for names in after:
                merged = join_names(merged, names)
            if not _changed(current, merged):
                current = merged
                break
            current = merged
        frame.exits = outer_exits
        frame.names = current

    def exec_With(self, node: ast.With, frame: Frame) -> int:
        lost, emits_leave, state = frame.lost, [], dict(self.state)
        swallows = False
        for item in node.items:
            manager = self.eval(item.context_expr, frame)
            if any(isinstance(option, Instance) for option in options(manager)):
                frame.lost = frame.lost or "with"  # nor can a break inside its __enter__ and __exit__ be resumed
            entered = self.enter(manager, item.context_expr, frame)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, entered, frame, node)
            if self.loses_frame(manager):
                frame.lost = frame.lost or "with"
            if self.driver is not None and isinstance(manager, ExternalInstance) and manager.name in STATES:
                self.state[STATES[manager.name]] = self.text(item.context_expr, frame.module)
            swallows = swallows or (isinstance(manager, ExternalInstance) and manager.name == "contextlib.suppress")
            emits_leave.append(manager)
        try:
            status = self.exec_block(node.body, frame)
        except Raised:
            if not swallows:
                raise
            status = GO_ON
        self.state = state
        for manager in reversed(emits_leave):
            self.leave_context(manager, node, frame)
        frame.lost = lost
        return status

    exec_AsyncWith = exec_With

    def enter(self, manager: Value, node: ast.expr, frame: Frame) -> Value:
        """What `as` binds when a context manager is entered."""
        results = []
        for option in options(manager):
            if isinstance(option, Instance):
                method = self.attribute(option, "__enter__", node, frame)
                results.append(self.call_value(method, [], {}, node, frame) if isinstance(method, Function) else option)
            elif isinstance(option, ExternalInstance):
                self.emit(Enter, node, frame, name=option.name, value=option, args=option.args, kwargs=dict(option.kwargs))
                results.append(option)
            elif isinstance(option, Sequence) and option.type == "generator":
                results.append(element_of(option))
            else:
                results.append(UNKNOWN)
        return join_all(results)

    def leave_context(self, manager: Value, node: ast.With, frame: Frame) -> None:
        for option in options(manager):
            if isinstance(option, Instance):
                method = self.attribute(option, "__exit__", node, frame)
                if isinstance(method, Function):
                    try:
                        self.call_value(method, [NONE, NONE, NONE], {}, node, frame)
                    except Raised:
                        pass

    def loses_frame(self, manager: Value) -> bool:
        """True when a break inside this `with` cannot be resumed: Dynamo rebuilds only the context managers it knows."""
        for option in options(manager):
            if isinstance(option, Instance) or (isinstance(option, Sequence) and option.type == "generator"):
                return True
            if isinstance(option, ExternalInstance) and not option.name.startswith("torch."):
                return True
        return False

    def exec_Try(self, node: ast.Try, frame: Frame) -> int:
        before = dict(frame.names)
        lost, frame.lost = frame.lost, frame.lost or ("try" if node.handlers else "")
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
            self.emit(Statement, self.raising_node(node, frame), frame, construct="raise", name=self.exception_name(raised.value),
                      value=raised.value)
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
                    self.emit(Branch, pattern.value, frame, self.sureness(tensor) if option is subject else "likely", test=tensor,
                              construct="match")
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
        if isinstance(pattern, ast.MatchSequence) and isinstance(subject, Sequence) and subject.items is not None and not any(
                isinstance(p, ast.MatchStar) for p in pattern.patterns):
            return self.match_items(pattern.patterns, subject.items, frame)
        for name in _names_bound(pattern):
            frame.names[name] = element_of(subject) if isinstance(subject, Sequence) else UNKNOWN
        return None

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

    # --- assignment

    def assign(self, target: ast.expr, value: Value, frame: Frame, node: ast.AST, old: Value | None = None) -> None:
        """Bind `value` to a target. `node` is the statement, `old` the previous value of an augmented assignment."""
        kind = type(target)
        if kind is ast.Name:
            self.assign_name(target, value, frame, node, old)
        elif kind in (ast.Tuple, ast.List):
            self.unpack(target.elts, value, frame, node)
        elif kind is ast.Attribute:
            self.store_attribute(target, self.eval(target.value, frame), target.attr, value, frame, node, old)
        elif kind is ast.Subscript:
            container, index = self.eval(target.value, frame), self.eval(target.slice, frame)
            self.store_item(target, container, index, value, frame, node)
        elif kind is ast.Starred:
            self.assign(target.value, Sequence("list", None, value), frame, node)

    def assign_name(self, target: ast.Name, value: Value, frame: Frame, node: ast.AST, old: Value | None) -> None:
        name = target.id
        if name in frame.globals_:
            names = self.module_names(frame.module)
            initial = names.get(name, UNKNOWN)
            self.emit_store(Store, node, frame, (id(frame.module), name), owner="", name=name, scope="global", value=value,
                            initial=initial, reads_itself=old is not None or _mentions(node, name))
            if not frame.emits:
                names[name] = value
            return
        if name in frame.nonlocals:
            scope = frame.enclosing(name)
            if scope is not None:
                self.emit_store(Store, node, frame, (id(scope), name), owner="", name=name, scope="nonlocal", value=value,
                                initial=scope.names[name], reads_itself=old is not None or _mentions(node, name))
                scope.names[name] = join(scope.names[name], value)
            return
        if frame.function is None and frame.scope is None and isinstance(value, CONTAINERS) and not value.home and not frame.prefix:
            value.home = f"global {name}"
        frame.names[name] = value

    def emit_store(self, event_type, node: ast.AST, frame: Frame, key: tuple[int, str], **fields) -> None:
        """Emit a Store whose `is_read` is settled when the whole region is known."""
        if frame.emits:
            before = len(frame.activation.steps)
            self.emit(event_type, node, frame, **fields)
            if len(frame.activation.steps) > before:
                self.pending.append((frame.activation, before, key))

    def unpack(self, targets: list[ast.expr], value: Value, frame: Frame, node: ast.AST) -> None:
        parts = self.unpacked(value, len(targets), any(type(t) is ast.Starred for t in targets), node, frame)
        star = next((i for i, t in enumerate(targets) if type(t) is ast.Starred), None)
        if parts is not None and star is None and len(parts) == len(targets):
            for target, part in zip(targets, parts):
                self.assign(target, part, frame, node)
            return
        if parts is not None and star is not None and len(parts) >= len(targets) - 1:
            after = len(targets) - star - 1
            middle = parts[star:len(parts) - after]
            for target, part in zip(targets[:star], parts):
                self.assign(target, part, frame, node)
            self.assign(targets[star].value, Sequence("list", middle), frame, node)
            for target, part in zip(targets[star + 1:], parts[len(parts) - after:]):
                self.assign(target, part, frame, node)
            return
        element = self.iterate(value, node, frame) or UNKNOWN
        for target in targets:
            self.assign(target, element, frame, node)

    def unpacked(self, value: Value, count: int, starred: bool, node: ast.AST, frame: Frame) -> list[Value] | None:
        """The known parts of a value that is unpacked into `count` targets."""
        if isinstance(value, Sequence) and value.items is not None and value.type != "generator":
            return value.items
        if isinstance(value, Instance):
            fields = self.field_names(value)
            if fields:
                return [value.attributes.get(f, UNKNOWN) for f in fields]
        if isinstance(value, Union):
            rows = [self.unpacked(o, count, starred, node, frame) for o in value.options]
            rows = [r for r in rows if r is not None and (starred or len(r) == count)]
            if rows and len({len(r) for r in rows}) == 1:
                return [join_all(column) for column in zip(*rows)]
        if isinstance(value, Const) and isinstance(value.value, str | tuple) and len(value.value) == count:
            return [Const(v) for v in value.value]
        return None


def _changed(before: dict[str, Value], after: dict[str, Value]) -> bool:
    return any(after[k] is not v and after[k] != v for k, v in before.items() if k in after)


def _is_folded(node: ast.expr) -> bool:
    """True for what the compiler makes one constant of, as Dynamo wants an assert's message: "a" + "b", ("a", 1)."""
    if isinstance(node, ast.JoinedStr):
        return all(isinstance(part, ast.Constant) for part in node.values)
    if isinstance(node, ast.Tuple):
        return all(_is_folded(part) for part in node.elts)
    if isinstance(node, ast.BinOp):
        formats = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        return not formats and _is_folded(node.left) and _is_folded(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_folded(node.operand)
    if isinstance(node, ast.Subscript):
        return _is_folded(node.value) and _is_folded(node.slice)
    return isinstance(node, ast.Constant)


def _mentions(node: ast.AST, name: str) -> bool:
    value = getattr(node, "value", None)
    return value is not None and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))


def _names_bound(pattern: ast.pattern) -> list[str]:
    return [n.name for n in ast.walk(pattern) if isinstance(n, ast.MatchAs | ast.MatchStar) and n.name]
