"""Objects of classes outside the checked source."""

from __future__ import annotations

from breakscope.rulekit.events import Enter
from breakscope.rulekit.values import (
    NONE,
    UNKNOWN,
    Const,
    ExternalInstance,
    Method,
    Py,
    Sequence,
    Tensor,
    Union,
    Value,
)
from breakscope.static.machine.compiled_values import call_of_compiled
from breakscope.static.machine.library import (
    MADE_CLASS,
    PACKED_SEQUENCE,
    SET_ON_MADE,
)
from breakscope.static.machine.machine import Machine
from breakscope.static.machine.packages import TOKENIZER
from breakscope.static.variables.base import Variable
from breakscope.static.variables.effects.emitting import emit_call, note_assert
from breakscope.static.variables.effects.entered_contexts import note_entered
from breakscope.static.variables.effects.kept_iterators import note_skipped
from breakscope.static.variables.effects.side_effects import note_outside
from breakscope.static.variables.library.concurrency.queues import call_queue_method
from breakscope.static.variables.library.concurrency.threads import call_thread_method
from breakscope.static.variables.library.followed.draws import drawn
from breakscope.static.variables.library.followed.evaluated import evaluated_call
from breakscope.static.variables.library.followed.options import (
    PARSED,
    PARSER,
    option,
    parser_result,
)
from breakscope.static.variables.library.followed.param_groups import (
    is_optimizer,
    note_step,
    note_step_of_scheduler,
    param_groups,
)
from breakscope.static.variables.library.followed.patterns import MATCH, call_match
from breakscope.static.variables.library.known_results import PYTHON_RESULTS
from breakscope.static.variables.library.plain_calls import enter_package
from breakscope.static.variables.library.transforms import TRANSFORMS, call_transformed
from breakscope.static.variables.modules.hooks import HANDLE, count_hooks, run_hooks, run_pre_hooks
from breakscope.static.variables.modules.layers import layer_result
from breakscope.static.variables.numpy import DRAWN_INTEGERS, drawn_array, size_drawn
from breakscope.static.variables.stdlib import GETTERS, PARTIAL, call_getter

# objects of these are called as layers of torch.nn are
LIKE_LAYERS = ("torchvision.", "torch.jit.script", "torch.library", "einops.layers.")
OWN_DRAWS = {"uniform": "float", "random": "float", "randint": "int", "randrange": "int"}
SCHEDULERS = "torch.optim.lr_scheduler."
GENERATORS = frozenset(f"numpy.random.{n}" for n in ("default_rng", "Generator", "RandomState"))
OF_DISTRIBUTIONS = frozenset(
    """
    sample rsample log_prob entropy cdf icdf prob perplexity
    """.split()
)
PROPERTIES_OF_DISTRIBUTIONS = frozenset("mode mean variance stddev probs logits".split())


DATA = "torch.utils.data."  # Dynamo skips the methods of its classes as it does their constructors
TABLE, SERIES = "pandas.DataFrame", ExternalInstance("pandas.Series")
OF_TABLES = frozenset("T at dtypes empty iat iloc loc shape size values".split())
OF_GRAPHS = frozenset("adj degree edges in_degree in_edges nodes out_degree out_edges".split())
OF_TOKENIZERS = frozenset(
    [*(f"{x}_token_id" for x in "bos cls eos mask pad sep unk".split()), "vocab_size"]
)
# what of packages that Dynamo skips is computed where it is read
PROPERTIES = {
    TABLE: OF_TABLES,
    SERIES.name: OF_TABLES,
    **{f"networkx.{kind}Graph": OF_GRAPHS for kind in ("", "Di", "Multi", "MultiDi")},
}
GIVE_THEMSELVES = frozenset({"fit", "partial_fit", "set_output", "set_params"})
MOVES = frozenset({"to", "cpu", "cuda", "float", "double", "half", "long", "pin_memory"})
INDICES = Union((Tensor("int", 1), NONE))  # None where the sequences were sorted before
# named tuples, and what their fields hold
FIELDS: dict[str, dict[str, Value]] = {
    PACKED_SEQUENCE: {
        "data": Tensor(),
        "batch_sizes": Tensor("int", 1),
        "sorted_indices": INDICES,
        "unsorted_indices": INDICES,
    }
}


OF_CONTEXTS = frozenset(
    "save_for_backward save_for_forward mark_dirty mark_non_differentiable set_materialize_grads".split()
)


class LibraryObjectVariable(Variable):
    """An object of a class outside the checked source."""

    def call(self, machine: Machine, callee, args, kwargs, node, frame) -> Value:
        if callee.name in GETTERS:
            return call_getter(machine, callee, args, node, frame)
        if callee.name == PARTIAL:
            target, *given = callee.args
            named = {**dict(callee.kwargs), **kwargs}
            return machine.call(target, [*given, *args], named, node, frame)
        if callee.name in TRANSFORMS and callee.args:
            with call_of_compiled(machine.driver, callee, args, kwargs, node, frame):
                return call_transformed(machine, callee, args, kwargs, node, frame)
        name = f"{callee.name}.{self.called}"
        emit_call(machine, name, callee, args, kwargs, node, frame)
        enter_package(machine, name, args, kwargs, node, frame)
        run_pre_hooks(machine, callee, args, node, frame)
        result = self.result(machine, callee, args, frame)
        run_hooks(machine, callee, args, result, node, frame)
        return result

    called = "__call__"  # the method that a call runs

    def result(self, machine: Machine, owner, args, frame) -> Value:
        """What a call of the object gives."""
        return layer_result(machine, owner, args) if owner.name.startswith(LIKE_LAYERS) else UNKNOWN

    def call_method(self, machine: Machine, owner, name, args, kwargs, node, frame) -> Value:
        full = f"{owner.name}.{name}"
        if owner.name == "logging.Logger" and name.endswith("_once"):
            full = full.removesuffix("_once")  # added to the class by several libraries
        if (
            owner.name.startswith(SCHEDULERS)
            and name == "step"
            and machine.driver.calls is not None
        ):
            note_step_of_scheduler(machine, owner, node, frame)
        if full == "contextlib.ExitStack.enter_context" and args and not frame.undecided:
            note_entered(machine, args[0], node.args[0] if node.args else node, frame)
        if name == "step" and is_optimizer(owner):
            if frame.emits:
                note_step(machine, owner, node, frame)
            elif closure := [*args, *kwargs.values()][:1]:
                machine.call(closure[0], [], {}, node, frame)
        certainty = "certain" if owner.sure else "likely"
        emit_call(machine, full, owner, args, kwargs, node, frame, certainty)
        enter_package(machine, full, args, kwargs, node, frame)
        if (
            found := call_queue_method(machine, owner, name, args, kwargs, node, frame)
        ) is not None:
            return found
        found = call_thread_method(machine, owner, name, args, kwargs, node, frame)
        if found is not None:
            return found
        if owner.name == "re.Pattern" and len(owner.args) == 1:
            given = [*owner.args, *args]
            found = evaluated_call(machine, f"re.{name}", given, kwargs, node, frame)
            if found is not None:
                return found
        if owner.name == HANDLE and name == "remove" and owner.args:
            count_hooks(machine, owner.args[0], -1)
        if owner.name == MATCH and (found := call_match(owner, name, args)) is not None:
            return found
        if full in PYTHON_RESULTS:
            return PYTHON_RESULTS[full]
        if owner.name == PARSER and not frame.emits and machine.driver.calls is not None:
            return parser_result(machine, name, args, kwargs)
        if owner.name == "random.Random" and not frame.emits:
            found = drawn(machine, f"random.{name}", args, kwargs)
            if found is not None:
                return found
        if owner.name == "random.Random" and name in OWN_DRAWS:
            kind = OWN_DRAWS[name]
            return machine.region.draw(kind) if frame.emits else Py(kind, "random")
        if owner.name in GENERATORS and not frame.emits:
            size = size_drawn(name, args, kwargs)
            if size is not None:
                return drawn_array(size, "int" if name in DRAWN_INTEGERS else "float")
            return Py("int" if name in DRAWN_INTEGERS or name == "choice" else "float", "random")
        return self.method_result(owner, name, args)

    def method_result(self, owner, name, args) -> Value:
        """What a method of the object gives."""
        if owner.name.startswith("torch.distributions.") and name in OF_DISTRIBUTIONS:
            return Tensor()
        if owner.name.startswith(SCHEDULERS) and name == "get_last_lr":
            return Sequence("list", None, Py("float", "random"))  # another after each step
        if owner.name == "torch.Generator" or (owner.name in FIELDS and name in MOVES):
            return owner
        if owner.name.endswith(".GradScaler") and name == "scale":
            return args[0] if args else UNKNOWN
        if name in GIVE_THEMSELVES and owner.name.startswith("sklearn."):
            return owner
        if owner.name == "contextlib.ExitStack":
            return args[0] if args else UNKNOWN
        return UNKNOWN

    def getattr(self, machine: Machine, owner, name, node, frame) -> Value:
        if name == "param_groups" and machine.driver.sets and is_optimizer(owner):
            return param_groups(machine, owner)
        if name in PROPERTIES_OF_DISTRIBUTIONS and owner.name.startswith("torch.distributions."):
            return Tensor()
        if owner.name == PARSED.name:
            if frame.emits:
                machine.region.note_read((id(PARSED), name), node, frame)
            return UNKNOWN if frame.emits else option(machine, name)
        if owner.name == "torch.autograd.function.FunctionCtx":
            if name == "saved_variables":  # Dynamo knows them by their new name only
                emit_call(machine, f"{owner.name}.{name}", owner, (), {}, node, frame)
            if name in ("saved_tensors", "saved_variables"):
                return Sequence("tuple", None, Tensor())
            if name == "needs_input_grad":
                return Sequence("tuple", None, Py("bool", "config"))
            return Method(owner, name) if name in OF_CONTEXTS else UNKNOWN
        if owner.name in ("torch.finfo", "torch.iinfo"):
            return Py("number")
        of_tokenizer = OF_TOKENIZERS if TOKENIZER.fullmatch(owner.name) else ()
        if name in PROPERTIES.get(owner.name, of_tokenizer):
            enter_package(machine, f"{owner.name}.{name}", [], {}, node, frame)
            return UNKNOWN
        return FIELDS.get(owner.name, {}).get(name) or Method(owner, name)

    def setattr(self, machine: Machine, owner, name, value, old, target, node, frame) -> None:
        if owner.name == MADE_CLASS:
            emit_call(machine, SET_ON_MADE, owner, (Const(name), value), {}, node, frame)
        if owner.name == PARSED.name and machine.driver.sets:
            note_outside(machine, PARSED, name, value, option(machine, name), frame, node)
            machine.driver.options[name] = value

    def getitem(self, machine: Machine, container, index, store, node, frame) -> Value:
        self.note_data(machine, container, node, frame)
        if enter_package(machine, f"{container.name}.__getitem__", [index], {}, node, frame):
            return SERIES if container.name == TABLE and index.is_const else UNKNOWN
        if container.name == MATCH:
            return call_match(container, "group", [index]) or UNKNOWN
        fields = [*FIELDS.get(container.name, {}).values()]
        at = index.value if index.is_const else None
        known = isinstance(at, int) and -len(fields) <= at < len(fields)
        return fields[at] if known else UNKNOWN

    def unpacked(self, machine: Machine, value, count, starred, node, frame) -> list[Value] | None:
        return [*FIELDS[value.name].values()] if value.name in FIELDS else None

    def iterate(self, machine: Machine, value, node, frame) -> Value | None:
        self.note_data(machine, value, node, frame)
        return Py("int") if value.name == "range" else UNKNOWN

    def length(self, machine: Machine, value, node, frame) -> Value:
        self.note_data(machine, value, node, frame)
        enter_package(machine, f"{value.name}.__len__", [], {}, node, frame)
        return Py("int")

    def note_data(self, machine: Machine, value, node, frame) -> None:
        """Emit that a data loader, a dataset or a sampler is gone over, or asked for an item or its
        length."""
        if value.name.startswith(DATA):
            certainty = "certain" if value.sure else "likely"
            emit_call(machine, value.name, value, (), {}, node, frame, certainty)

    def is_of_class(self, machine: Machine, value, wanted) -> bool | None:
        return None

    def has_type(self, value, name) -> bool | None:
        return True if value.name == name or (name == "tuple" and value.name in FIELDS) else None

    def truth(self, machine: Machine, value, construct, facts, node, frame) -> bool | None:
        note_assert(machine, value, node, frame, construct, facts)
        return True if value.name == MATCH and value.args else None

    def enter(self, machine: Machine, manager, node, frame) -> Value:
        note_skipped(machine, manager, node, frame, "with")
        machine.emit(
            Enter,
            node,
            frame,
            name=manager.name,
            value=manager,
            args=manager.args,
            kwargs=dict(manager.kwargs),
            exists=manager.exists,
        )
        is_given = manager.name in ("contextlib.nullcontext", "contextlib.closing")
        return (*manager.args, NONE)[0] if is_given else manager

    def skips_frame(self, machine: Machine, manager) -> bool:
        return manager.exists or not manager.name.startswith("torch.")
