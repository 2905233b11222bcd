"""Items and iteration of containers."""

from __future__ import annotations

import ast

from breakscope.events import Call, Mutate, ScalarRead, Store
from breakscope.static.frames import Frame
from breakscope.static.joins import element_of, join, join_all
from breakscope.static.module_containers import HELD
from breakscope.static.stdlib_calls import is_slice, is_whole_slice
from breakscope.static.tensor_items import index_parts
from breakscope.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    ExternalInstance,
    Function,
    Instance,
    Py,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
    options,
)


class Items:
    """How items are read, stored and iterated."""

    __slots__ = ()

    def item(self, node: ast.AST, container: Value, index: Value, frame: Frame, store: str = "") -> Value:
        """`container[index]`; `store` is the operator when the item is about to be changed in place."""
        kind = type(container)
        if kind is Tensor:
            return self.tensor_item(node, container, index, frame, store)
        if kind is Union:
            return self.item_of_one(node, container, index, frame, store)
        if kind is Sequence:
            if container.home and frame.emits and index.is_const:
                self.reads.setdefault((id(container), ("item", index.value)), (frame.activation, node))
            return self.sequence_item(node, container, index, frame)
        if kind is Dict:
            if container.home and frame.emits and index.is_const:
                self.reads.setdefault((id(container), ("item", index.value)), (frame.activation, node))
            return self.dict_item(container, index)
        if kind is Const and isinstance(container.value, str | bytes | tuple):
            if (
                index.is_const
                and isinstance(index.value, int)
                and -len(container.value) <= index.value < len(container.value)
            ):
                return Const(container.value[index.value])
            return Py("str") if isinstance(container.value, str) else UNKNOWN
        if kind is Py:
            return (
                Py("str", container.source)
                if container.type == "str"
                else Py("unknown", container.source)
                if container.source
                else UNKNOWN
            )
        if kind is Instance:
            fields = self.field_names(container)
            if index.is_const and isinstance(index.value, int) and -len(fields) <= index.value < len(fields):
                return container.attributes.get(fields[index.value], UNKNOWN)
            method = self.attribute(container, "__getitem__", node, frame)
            if isinstance(method, Function):
                found = self.call_value(method, [index], {}, node, frame)
                told = all(not option.is_unknown for option in options(found))
                return found if told else self.field_at(container, index, found, node, frame)
            if (held := self.contents(container)) is not container:
                return self.item(node, held, index, frame, store)
            if index.is_const and isinstance(index.value, str):
                return container.attributes.get(index.value, UNKNOWN)
        if container.is_scalar:
            return Scalar()
        if any(isinstance(part, Tensor) and part.dtype == "bool" for part in index_parts(index)):  # only a tensor takes a mask
            return self.tensor_item(node, Tensor(sure=False), index, frame, store)
        return UNKNOWN

    def field_at(self, owner: Instance, index: Value, found: Value, node: ast.AST, frame: Frame) -> Value:
        """What a dataclass gives for a number that it passes on to its fields in order, those that are None left out;
        `found` where that is not known, or it is no dataclass."""
        if not (index.is_const and type(index.value) is int and index.value >= 0 and self.has_generated_init(owner.cls.info)):
            return found
        place = index.value
        for name, *_ in self.fields(owner.cls.info):
            value = self.attribute(owner, name, node, frame)
            there = [option for option in options(value) if not option.is_none]
            if there and not place:
                return join_all(there)
            if there and len(there) < len(options(value)):
                return found  # one that may be left out
            place -= bool(there)
        return found

    def item_of_one(self, node: ast.AST, container: Union, index: Value, frame: Frame, store: str) -> Value:
        """The item of each that it may be; who indexes with a tensor hardly means the list that it is beside a tensor."""
        found, certainty = [], frame.certainty
        is_tensors = index.is_tensor and any([o.is_tensor for o in container.options])
        for option in container.options:
            if not option.is_none:
                frame.certainty = "possible" if is_tensors and type(option) is Sequence else certainty
                try:
                    found.append(self.item(node, option, index, frame, store))
                finally:
                    frame.certainty = certainty
        return join_all(found)

    def sequence_item(self, node: ast.AST, container: Sequence, index: Value, frame: Frame) -> Value:
        if index.is_tensor and (index.dtype != "bool" or index.sure):  # what looks like a mask is one of a tensor
            self.emit(
                ScalarRead,
                node,
                frame,
                self.sureness(index),
                value=index,
                how="index",
                expression=self.text(getattr(node, "slice", node), frame.module),
            )
            return element_of(container)
        if index.is_tensor:
            return element_of(container)
        items = container.items
        if isinstance(index, ExternalInstance) and index.name == "slice":
            type_ = container.type if container.type not in ("size",) else "size"
            bounds = [b.value if b.is_const else "?" for b in index.args]
            if items is not None and all(b is None or isinstance(b, int) for b in bounds):
                return Sequence(type_, items[slice(*bounds)])
            return Sequence(type_, None, element_of(container))
        if (
            items is not None
            and index.is_const
            and isinstance(index.value, int)
            and -len(items) <= index.value < len(items)
        ):
            return items[index.value]
        return element_of(container)

    def dict_item(self, container: Dict, index: Value) -> Value:
        if index.is_const:
            try:
                known = container.items.get(index.value)
            except TypeError:
                return UNKNOWN
            if known is not None:
                return known
            return container.element
        values = [*container.items.values(), *([container.element] if container.open else [])]
        tensors = [value.is_tensor for value in values]
        if any(tensors) and not all(tensors):
            return UNKNOWN  # which of them the key names is not known: `**kwargs` holds flags beside tensors
        return join_all(values)

    def store_item(
        self,
        target: ast.Subscript,
        container: Value,
        index: Value,
        value: Value,
        frame: Frame,
        node: ast.AST,
        augmented: bool = False,
    ) -> None:
        for option in options(container):
            if self.driver is not None and isinstance(option, Sequence | Dict) and option.home and index.is_const:
                before = self.item(target, option, index, frame)
                self.note_outside(option, ("item", index.value), value, before, frame, node)
            counts = False
            if augmented and frame.emits and isinstance(option, Sequence | Dict) and option.home and not index.is_tensor:
                counts = self.note_counter(target, option, index, value, frame, node)
            if option.is_tensor:
                self.store_tensor_item(target, option, index, value, frame)
            elif isinstance(option, Dict):
                new = not (counts or index.is_const and _known_key(option, index))
                if (option.home or frame.within) and new and frame.emits:
                    self.emit_mutate(node, frame, option, "__setitem__", value, index)
                if not (option.home and frame.emits):
                    self.put(option, index, value)
                else:
                    option.element, option.open = (
                        join(option.element, value) if not option.element.is_unknown else value,
                        True,
                    )
            elif isinstance(option, Sequence):
                if index.is_tensor:
                    self.emit(
                        ScalarRead,
                        target,
                        frame,
                        self.sureness(index),
                        value=index,
                        how="index",
                        expression=self.text(target.slice, frame.module),
                    )
                if is_slice(index):
                    self.store_slice(option, index, value, target, frame)
                elif option.items is not None:
                    if (
                        index.is_const
                        and isinstance(index.value, int)
                        and -len(option.items) <= index.value < len(option.items)
                    ):
                        option.items[index.value] = value
                    else:
                        option.items = [join(v, value) for v in option.items]
                else:
                    option.element = join(option.element, value) if not option.element.is_unknown else value
            elif isinstance(option, Instance):
                method = self.attribute(option, "__setitem__", target, frame)
                if isinstance(method, Function):
                    self.call_value(method, [index, value], {}, target, frame)
                elif HELD in option.attributes:
                    self.store_item(target, option.attributes[HELD], index, value, frame, node, augmented)
                elif index.is_const and isinstance(index.value, str) and not frame.emits:
                    option.attributes[index.value] = value
            elif frame.emits and isinstance(option, Py) and self.interesting(f"{option.type}.__setitem__"):
                name = f"{option.type}.__setitem__"
                self.emit(Call, target, frame, name=name, receiver=option, args=(index, value), kwargs={})

    def store_slice(self, owner: Sequence, index: Value, value: Value, node: ast.AST, frame: Frame) -> None:
        """`rows[a:b] = values`."""
        given = value.items if isinstance(value, Sequence) else None
        is_sure = not frame.lost and not frame.undecided and not (owner.home and frame.emits)
        if given is not None and is_whole_slice(index) and is_sure:
            owner.items = [*given]
        else:
            element = self.iterate(value, node, frame)
            owner.element = join_all([element_of(owner), *([] if element is None else [element])])
            owner.items = None

    def note_counter(self, target, container, index: Value, value: Value, frame: Frame, node: ast.AST) -> bool:
        """`STATS["calls"] += 1` in the region; False when no number is known to be there."""
        initial = self.item(target, container, index, frame)
        self.emit_store(
            Store,
            node,
            frame,
            (id(container), ("item", index.value if index.is_const else None)),
            owner=self.text(target, frame.module),
            name="",
            scope="attribute",
            value=value,
            initial=initial,
            reads_itself=True,
        )
        return isinstance(initial, Const | Py)

    def note_mutation(self, container: Sequence | Dict, method: str, frame: Frame, node: ast.AST) -> None:
        """A running driver changes a container: its length, and with `update` any item that the region reads."""
        read = [name for owner, name in self.reads if owner == id(container)] if method == "update" else [""]
        for name in read:
            self.note_outside(container, name, Const(f"{method}, {len(self.outside)}"), NONE, frame, node)

    def note_nested(self, container: Sequence | Dict, home: str, depth: int = 2) -> None:
        """Note where the lists and dicts inside a container live that outlives the call."""
        known = container.items.items() if type(container) is Dict else enumerate(container.items or ())
        inner = [(repr(key), part) for key, part in known if type(part) is Sequence or type(part) is Dict]
        if isinstance(container.element, Sequence | Dict):
            inner.append(("...", container.element))
        for name, value in inner:
            if not value.home:
                self.inner_homes[id(value)] = value, f"{home}[{name}]"
                if depth:
                    self.note_nested(value, f"{home}[{name}]", depth - 1)

    def emit_mutate(
        self, node: ast.AST, frame: Frame, container: Sequence | Dict, method: str, value: Value, key: Value = UNKNOWN
    ) -> None:
        if self.driver is not None and container.home and method != "clear":
            self.note_mutation(container, method, frame, node)
        home = container.home or self.inner_homes.get(id(container), (container, ""))[1]
        if frame.emits and (home or frame.within and id(container) in self.outside_subgraph):
            self.emit(
                Mutate,
                node,
                frame,
                home=home,
                method=method,
                value=value,
                key=key,
                is_read=(id(container), "") in self.reads,
            )

    def extend(self, target: Sequence, value: Value, frame: Frame, node: ast.AST, method: str) -> None:
        """Grow a list in place by the elements of `value` (or by `value` itself for append)."""
        self.emit_mutate(node, frame, target, method, value)
        if method == "extend":
            added = value.items if isinstance(value, Sequence) and value.items is not None else None
            element = self.iterate(value, node, frame) or UNKNOWN if added is None else None
        else:
            added, element = [value], value
        known = (
            target.items is not None
            and added is not None
            and not frame.lost
            and len(target.items) < 64
            and not (target.home and frame.emits)
        )
        if known:
            target.items.extend(added)
            return
        grown = join_all([*(target.items or []), *(added if added is not None else [element])])
        target.element = grown if target.items is not None or target.element.is_unknown else join(target.element, grown)
        target.items = None

    def iterate(self, value: Value, node: ast.AST, frame: Frame) -> Value | None:
        """What iterating yields each time; None when there is certainly nothing to iterate."""
        kind = type(value)
        if kind is Sequence:
            if value.items == [] and not value.home:
                return None
            if value.home and frame.emits:
                self.reads.setdefault((id(value), ""), (frame.activation, node))
            return self.joined_modules(value)
        if kind is Tensor:
            return Tensor(value.dtype, value.ndim - 1 if value.ndim else None, None, value.sure, value.kind)
        if kind is Dict:
            keys = [Const(k) for k in value.items]
            return join_all(keys) if keys and not value.open else UNKNOWN if value.open else None
        if kind is Union:
            parts = [self.iterate(o, node, frame) for o in value.options if not o.is_none]
            return join_all([p for p in parts if p is not None])
        if kind is Instance:
            fields = self.field_names(value)
            if fields:
                return join_all([value.attributes.get(f, UNKNOWN) for f in fields])
            method = self.attribute(value, "__iter__", node, frame)
            if isinstance(method, Function):
                return self.iterate(self.call_implicitly(method, [], node, frame), node, frame)
            method = self.attribute(value, "__getitem__", node, frame)
            if isinstance(method, Function):
                return self.call_value(method, [Py("int")], {}, node, frame)
            held = self.contents(value)
            return UNKNOWN if held is value else self.iterate(held, node, frame)
        if kind is Const and isinstance(value.value, str):
            return Py("str")
        if value.is_scalar:
            return Scalar()
        if isinstance(value, ExternalInstance) and value.name in ("range",):
            return Py("int")
        return UNKNOWN

    def joined_modules(self, value: Sequence) -> Value:
        """The element of a sequence; every different module of a ModuleList stays an option of its own."""
        if value.items is None:
            return value.element
        if value.type in ("ModuleList", "Sequential") or all(
            isinstance(v, Instance | Function | ExternalInstance) for v in value.items
        ):
            different = list({id(v): v for v in value.items}.values())
            return different[0] if len(different) == 1 else Union(tuple(different[:24]))
        return element_of(value)


def _known_key(container: Dict, index: Value) -> bool:
    try:
        return index.value in container.items
    except TypeError:
        return False
