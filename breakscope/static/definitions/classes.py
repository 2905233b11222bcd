"""Classes of the checked source: bases, method resolution order, members."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from typing import TYPE_CHECKING

from breakscope import limits
from breakscope.rulekit.values import (
    UNKNOWN,
    Class,
    Dict,
    External,
    ExternalInstance,
    Function,
    Instance,
    Sequence,
    Value,
    options,
)
from breakscope.rulekit.walking import kept_with_node, names_in, walk
from breakscope.static.definitions.decorators import decorate
from breakscope.static.definitions.homes import note_nested
from breakscope.static.machine.frames import Frame, Raised
from breakscope.static.machine.library import MODULE_METHODS
from breakscope.static.machine.state import Body, ClassFacts
from breakscope.static.project.modules import ClassInfo

if TYPE_CHECKING:
    from breakscope.static.machine.machine import Machine

KNOWN_PACKAGES = frozenset(sys.stdlib_module_names | {"torch", "numpy"})
MODULE_BASES = ("torch.nn.Module", "torch.nn.modules.module.Module")
# they have modules, too, and models that torch.compile does not see
OTHER_FRAMEWORKS = frozenset(
    """
    chainer equinox flax haiku intel_npu_acceleration_library jax jittor keras mindspore mlx mxnet oneflow onnxruntime openvino
    paddle tensorflow tensorrt
    """.split()
)
TENSOR_BASES = ("torch.Tensor", "torch.nn.Parameter")


def class_facts(machine: Machine, info: ClassInfo) -> ClassFacts:
    """What the machine has found out about a class so far."""
    known = machine.objects.facts.get(id(info.node))
    if known is None:
        known = machine.objects.facts[id(info.node)] = ClassFacts(info)
    return known


def bases_of(machine: Machine, info: ClassInfo) -> list[Value]:
    """The values of a class's bases."""
    facts = class_facts(machine, info)
    if facts.bases is None:
        facts.bases = []
        frame = Frame(info.module, scope=info.scope)
        for base in info.node.bases:
            try:
                value = machine.eval(base.value if isinstance(base, ast.Subscript) else base, frame)
            except Raised:
                value = UNKNOWN
            facts.bases.extend(options(value))
    return facts.bases


def mro_of(machine: Machine, info: ClassInfo) -> list[ClassInfo]:
    """The classes of the checked source in method resolution order (C3, else depth first)."""
    facts = class_facts(machine, info)
    if facts.mro is None:
        facts.mro = [info]  # ends a cycle
        parents = [
            b.info for b in bases_of(machine, info) if isinstance(b, Class) and b.info != info
        ]
        facts.mro = [info, *_merge([*(list(mro_of(machine, p)) for p in parents), parents])]
        facts.bodies = _bodies(machine, facts.mro)
        machine.budget.spend(len(facts.mro) // limits.BASES_OF_A_STEP)
    return facts.mro


def _bodies(machine: Machine, mro: list[ClassInfo]) -> list[Body]:
    """The classes with what each defines, and what is known of its values; of one that comes behind torch's Module only what that has
    not: `class Net(nn.Module, Callable)` is called by the Module's `__call__`."""
    behind: set[int] = set()
    for cls in mro:
        behind |= _behind_torch(machine, cls)
    bodies = []
    for cls in mro:
        members = members_of(cls)
        if id(cls.node) in behind:
            members = {n: node for n, node in members.items() if n not in MODULE_METHODS}
        bodies.append((cls, members, class_facts(machine, cls).values))
    return bodies


def _behind_torch(machine: Machine, info: ClassInfo) -> set[int]:
    """The statements of classes that come, among the bases of this one, behind torch's Module, and do
    not derive from it."""
    facts = class_facts(machine, info)
    if facts.behind is None:
        facts.behind = set()
        ahead: set[int] | None = None  # the classes of the bases that derive from Module
        for base in bases_of(machine, info):
            parents = mro_of(machine, base.info) if isinstance(base, Class) else []
            nodes = {id(parent.node) for parent in parents}
            if ahead is not None:
                new = (p for p in parents if id(p.node) not in ahead)
                facts.behind |= {id(p.node) for p in new if not _derives_from_torch(machine, p)}
            if _is_of_torch(base) or (parents and _derives_from_torch(machine, base.info)):
                ahead = (ahead or set()) | nodes
    return facts.behind


def _derives_from_torch(machine: Machine, info: ClassInfo) -> bool:
    facts = class_facts(machine, info)
    if facts.is_of_torch is None:
        facts.is_of_torch = any(_has_base_of_torch(machine, cls) for cls in mro_of(machine, info))
    return facts.is_of_torch


def _has_base_of_torch(machine: Machine, info: ClassInfo) -> bool:
    return any(map(_is_of_torch, bases_of(machine, info)))


def _is_of_torch(base: Value) -> bool:
    return isinstance(base, External) and base.name.startswith("torch.nn.")


def external_bases(machine: Machine, info: ClassInfo) -> tuple[str, ...]:
    """Canonical names of the bases outside of the checked source, of all classes in the order."""
    facts = class_facts(machine, info)
    if facts.external_bases is None:
        names: dict[str, None] = {}
        for cls in mro_of(machine, info):
            for base in bases_of(machine, cls):
                if isinstance(base, External):
                    names.setdefault(base.name)
                elif base.is_unknown:
                    names.setdefault("?")
        facts.external_bases = tuple(names)
    return facts.external_bases


def skipped_base(machine: Machine, info: ClassInfo) -> str:
    """The base of a class from a package that Dynamo skips whole: what it defines is not traced for the class
    either."""
    packages = machine.library.skipped_packages
    bases = external_bases(machine, info)
    return next((base for base in bases if base.partition(".")[0] in packages), "")


def is_module(machine: Machine, value: Value) -> bool:
    """True for an object whose class derives from torch.nn.Module, as far as the source shows."""
    if isinstance(value, Instance):
        return is_module_class(machine, value.cls.info)
    return isinstance(value, ExternalInstance) and value.name.startswith("torch.nn.")


def is_module_class(machine: Machine, info: ClassInfo) -> bool:
    """True for a class that derives from torch.nn.Module, as far as the source shows."""
    facts = class_facts(machine, info)
    if facts.is_module is None:
        bases = external_bases(machine, info)
        facts.is_module = any(
            name in MODULE_BASES
            or name.startswith("torch.nn.")
            or (name.endswith("Module") and not _is_without_modules(machine, name))
            for name in bases
        ) or (
            any(
                _uses_torch(machine, info)
                if name == "?"
                else is_of_unseen_package(machine, info, name)
                for name in bases
            )
            and find_member(machine, info, "forward") is not None
            # a module is called by the one that torch has
            and find_member(machine, info, "__call__") is None
        )
    return facts.is_module


def _is_without_modules(machine: Machine, name: str) -> bool:
    """True for what has a package that Dynamo skips, or another framework than torch."""
    top = name.partition(".")[0]
    return top in machine.library.skipped_packages or top in OTHER_FRAMEWORKS


def _uses_torch(machine: Machine, info: ClassInfo) -> bool:
    """True when a file of the class or of one that it derives from names torch."""
    return any("torch" in cls.module.source for cls in mro_of(machine, info))


def is_tensor_class(machine: Machine, info: ClassInfo) -> bool:
    """True for a class that derives from torch.Tensor, as far as the source shows."""
    return any(name in TENSOR_BASES for name in external_bases(machine, info))


def is_tensor_dict(machine: Machine, info: ClassInfo) -> bool:
    """True for tensordict's own classes of dictionaries of tensors; a subclass has methods of its
    own."""
    if info.module.name.partition(".")[0] != "tensordict":
        return False
    return any(cls.name == "TensorDictBase" for cls in mro_of(machine, info))


def keeps_its_class(machine: Machine, info: ClassInfo) -> bool:
    """True for a subclass of torch.Tensor whose results are of it too, as torch makes them where no
    `__torch_function__` says what they are. That of nn.Parameter gives plain tensors."""
    bases = external_bases(machine, info)
    is_plain_base = "torch.Tensor" in bases and "torch.nn.Parameter" not in bases
    return is_plain_base and find_member(machine, info, "__torch_function__") is None


def is_of_unseen_package(machine: Machine, info: ClassInfo, name: str) -> bool:
    """True for a class of a package whose source is not there, such as a dependency that is not
    installed: in a file that uses torch, one with a `forward` below it is most likely a module. Not of
    a package that does without torch: an estimator of scikit-learn may have a `forward` too."""
    top, dot, _ = name.partition(".")
    if not dot or top in KNOWN_PACKAGES or "torch" not in info.module.source:
        return False
    return not (
        _is_without_modules(machine, name)
        or machine.world.program.is_without_torch(top, info.module)
    )


@kept_with_node
def members_of(info: ClassInfo) -> dict[str, ast.stmt]:
    """Statements that define each name in a class body; a name's last definition wins."""
    members = {}
    _collect(info.node.body, members)
    return members


def find_member(
    machine: Machine, info: ClassInfo, name: str, after: ClassInfo | None = None
) -> Value | None:
    """The value of a class attribute through the classes in order (behind `after` for super)."""
    facts = class_facts(machine, info)
    if facts.bodies is None:
        mro_of(machine, info)
    bodies = facts.bodies or [(info, members_of(info), facts.values)]  # none yet in a cycle
    if after is not None:
        bodies = bodies[facts.mro.index(after) + 1 :] if after in facts.mro else []
    for cls, members, values in bodies:
        if name in cls.stored:
            return cls.stored[name]
        statement = members.get(name)
        if statement is not None:
            value = values.get(name)
            if value is None:
                value = values[name] = member_value(machine, cls, name, statement)
            return value
    return None


def member_value(machine: Machine, cls: ClassInfo, name: str, statement: ast.stmt) -> Value:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        info = machine.function_info(cls.module, statement, cls.qualname, cls)
        return decorate(
            machine,
            statement,
            Function(info, scope=cls.scope),
            class_frame(machine, cls, statement),
        )
    frame = Frame(cls.module, None, cls.scope, None, False, 0, cls.qualname)
    for other in ("staticmethod", "classmethod", "property"):
        frame.names[other] = External(other)
    if isinstance(statement, ast.ClassDef):
        machine.exec(statement, frame)
        return frame.names[statement.name]
    try:
        machine.exec(statement, class_frame(machine, cls, statement, frame))
    except Raised:
        return UNKNOWN
    value = frame.names.get(name, UNKNOWN)
    if isinstance(value, Sequence | Dict) and not value.home:
        machine.touch(value)
        value.home = f"{cls.name}.{name}"
        note_nested(machine, value, value.home)
    return value


def class_frame(
    machine: Machine, cls: ClassInfo, statement: ast.stmt, frame: Frame | None = None
) -> Frame:
    """A frame in which the names of the class body are visible to its later statements."""
    frame = frame or Frame(cls.module, None, cls.scope, None, False, 0, cls.qualname)
    members, values = members_of(cls), class_facts(machine, cls).values
    for name in sorted(_names_run_by(statement) & members.keys()):
        if members[name] is not statement:
            if name not in values:
                values[name] = UNKNOWN  # ends a cycle
                values[name] = member_value(machine, cls, name, members[name])
            frame.names[name] = cls.stored.get(name, values[name])
    return frame


@kept_with_node
def _names_run_by(statement: ast.stmt) -> frozenset[str]:
    """The names in what runs of a statement when its class is made."""
    is_definition = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    now = statement.decorator_list if is_definition else [statement]
    return frozenset().union(*map(names_in, now))


def bound_to(member: Value, owner: Value) -> Value:
    """A class member as an attribute of `owner` (an Instance or a Class)."""
    if not isinstance(member, Function) or member.bound is not None:
        return member
    marks = member.info.marks
    if "staticmethod" in marks:
        return member
    if "classmethod" in marks:
        return Function(
            member.info, owner.cls if isinstance(owner, Instance) else owner, member.scope
        )
    spec = member.info.node.args
    if isinstance(owner, Class) or (
        member.info.owner is None and not (spec.args or spec.posonlyargs or spec.vararg)
    ):
        return member
    scope, cls = member.scope, owner.cls.info if isinstance(owner, Instance) else None
    if cls is not None and cls.scope is not None and member.info.owner == cls:
        scope = cls.scope  # of the call that made the object's own class
    return Function(member.info, owner, scope, member.args, member.kwargs)


def _collect(body: list[ast.stmt], members: dict[str, object]) -> None:
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            decorators = {
                d.attr
                for d in getattr(statement, "decorator_list", ())
                if isinstance(d, ast.Attribute)
            }
            if "setter" in decorators:
                members[f"{statement.name}.setter"] = statement
            elif "deleter" not in decorators and not any(
                getattr(d, "id", getattr(d, "attr", "")) in ("overload", "_overload_method")
                for d in statement.decorator_list
            ):
                members[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in walk(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        members[name.id] = statement
        elif (
            isinstance(statement, ast.AnnAssign)
            and statement.value is not None
            and isinstance(statement.target, ast.Name)
        ):
            members[statement.target.id] = statement
        elif isinstance(statement, ast.If | ast.Try):
            _collect(statement.body, members)
            _collect(statement.orelse, members)


def _merge(rows: list[list[ClassInfo]]) -> list[ClassInfo]:
    """C3 linearization; when the order is contradictory, first come first served."""
    named = {id(cls.node): cls for row in rows for cls in row}
    keys = [[id(cls.node) for cls in row] for row in rows if row]
    behind = Counter(key for row in keys for key in row[1:])  # in how many rows another is first
    result: dict[int, None] = {}
    at = [0] * len(keys)
    while True:
        for number, row in enumerate(keys):
            while at[number] < len(row) and row[at[number]] in result:
                at[number] += 1
                if at[number] < len(row):
                    behind[row[at[number]]] -= 1
        heads = [row[place] for row, place in zip(keys, at) if place < len(row)]
        if not heads:
            return [named[key] for key in result]
        result[next((head for head in heads if not behind[head]), heads[0])] = None
