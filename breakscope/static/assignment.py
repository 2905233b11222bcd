"""Assignment and unpacking."""

from __future__ import annotations

import ast

from breakscope.events import Store
from breakscope.static.frames import Frame
from breakscope.static.joins import join, join_all
from breakscope.values import NONE, UNKNOWN, Const, Dict, ExternalInstance, Instance, Sequence, Tensor, Union, Value
from breakscope.walking import walk

CONTAINERS = (Sequence, Dict)


class Assignment:
    """How values are bound to targets."""

    __slots__ = ()

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
            self.emit_store(
                Store,
                node,
                frame,
                (id(frame.module), name),
                owner="",
                name=name,
                scope="global",
                value=value,
                initial=initial,
                reads_itself=old is not None or _mentions(node, name),
            )
            if not frame.emits:
                self.note_outside(frame.module, name, value, initial, frame, node)
                names[name] = value
                self.program.state += 1
            return
        if name in frame.nonlocals:
            scope = frame.enclosing(name)
            if scope is not None:
                self.emit_store(
                    Store,
                    node,
                    frame,
                    (id(scope), name),
                    owner="",
                    name=name,
                    scope="enclosing" if scope.emits else "nonlocal",
                    value=value,
                    initial=scope.names[name],
                    reads_itself=old is not None or _mentions(node, name),
                )
                scope.names[name] = join(scope.names[name], value)
            return
        if (
            frame.function is None
            and frame.scope is None
            and isinstance(value, CONTAINERS)
            and not value.home
            and not frame.prefix
        ):
            value.home = f"global {name}"
            self.note_nested(value, name)
        frame.names[name] = value

    def note_outside(self, owner: object, name, value: Value, before: Value, frame: Frame, node: ast.AST) -> None:
        """A running driver changes what the region may read: `name` of `owner` (an object, a module, a container)."""
        if self.driver is not None and not before.is_unknown:
            self.outside.append((owner, name, value, before, frame.module.path, node))

    def emit_store(self, event_type, node: ast.AST, frame: Frame, key: tuple[int, str], **fields) -> None:
        """Emit a Store whose `is_read` is settled when the whole region is known."""
        if frame.emits:
            before = len(frame.activation.steps)
            if key not in self.reads and _always_runs(node, frame):
                self.overwritten.add(key)
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
            middle = parts[star : len(parts) - after]
            for target, part in zip(targets[:star], parts):
                self.assign(target, part, frame, node)
            self.assign(targets[star].value, Sequence("list", middle), frame, node)
            for target, part in zip(targets[star + 1 :], parts[len(parts) - after :]):
                self.assign(target, part, frame, node)
            return
        element = self.iterate(value, node, frame) or UNKNOWN
        for target in targets:
            self.assign(target, element, frame, node)

    def unpacked(self, value: Value, count: int, starred: bool, node: ast.AST, frame: Frame) -> list[Value] | None:
        """The known parts of a value that is unpacked into `count` targets."""
        if isinstance(value, Sequence) and value.items is not None:
            if value.type != "generator" or len(value.items) == count:  # another number: some were taken before
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
        if isinstance(value, ExternalInstance) and value.name == "torch.nn.utils.rnn.PackedSequence" and count == 4:
            order = join(Tensor("int", 1), NONE)
            return [Tensor(), Tensor("int", 1), order, order]
        if isinstance(value, Const) and isinstance(value.value, str | tuple) and len(value.value) == count:
            return [Const(v) for v in value.value]
        return None


def _mentions(node: ast.AST, name: str) -> bool:
    value = getattr(node, "value", None)
    return value is not None and any(isinstance(n, ast.Name) and n.id == name for n in walk(value))


def _always_runs(node: ast.AST, frame: Frame) -> bool:
    """True for a statement of a region's own function that stands in no block: every call of the region runs it."""
    return frame.depth == 1 and frame.function is not None and node in getattr(frame.function.node, "body", ())
