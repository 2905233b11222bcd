"""Statements and small programs whose verdict depends on more than one call."""
# ruff: noqa

import contextlib
import enum
import functools
import logging
import threading
import typing

import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT = 0
SEEN = []
CACHE = {}
CONSTANT = torch.ones(3)
logger = logging.getLogger("probe")
config = {"scale": 2.0, "layers": [1, 2]}
lock = threading.Lock()


class Failure(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.message = message


class Simple(Exception):
    pass


class Color(enum.Enum):
    RED = 1


class Counter:
    total = 0

    def __init__(self):
        self.n = 0

    def bump(self):
        self.n += 1

    @property
    def double(self):
        return self.n * 2

    @functools.cached_property
    def cached(self):
        return self.n + 1

    @staticmethod
    def static(x):
        return x + 1

    @classmethod
    def made(cls):
        return cls()

    def __call__(self, x):
        return x + self.n

    def __getattr__(self, name):
        if name == "dynamic":
            return 1
        raise AttributeError(name)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return key

    def __iter__(self):
        return iter([1, 2])

    def __contains__(self, key):
        return True

    def __bool__(self):
        return True


counter = Counter()


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.scale = 1.5
        self.history = []
        self.last = None
        self.fc = nn.Linear(3, 3)
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x):
        return x


module = Stateful()


def _numbers(n):
    for e in range(n):
        yield e


def _tensors(x):
    for row in x:
        yield row + 1


def _delegating(x):
    yield from _tensors(x)


def program_branch_on_tensor(x):
    """if on a tensor"""
    if x.sum() > 0:
        x = x + 1
    return x


def program_branch_on_item(x):
    """if on .item()"""
    if x.sum().item() > 0:
        x = x + 1
    return x


def program_while_on_tensor(x):
    """while on a tensor"""
    while x.sum() < 100:
        x = x * 2
    return x


def program_assert_constant_message(x):
    """assert of a tensor with a constant message"""
    assert x.sum() > 0, "positive"
    return x + 1


def program_assert_no_message(x):
    """assert of a tensor without a message"""
    assert x.sum() > 0
    return x + 1


def program_assert_formatted_message(x):
    """assert of a tensor whose message formats a tensor"""
    assert x.sum() > 0, f"got {x.sum()}"
    return x + 1


def program_assert_shape_message(x):
    """assert of a tensor whose message formats a shape"""
    assert x.sum() > 0, f"got {x.shape}"
    return x + 1


def program_assert_all(x):
    """assert (x > 0).all()"""
    assert (x > 0).all(), "positive"
    return x + 1


def program_assert_not_nan(x):
    """assert not x.isnan().any()"""
    assert not x.isnan().any(), "nan"
    return x + 1


def program_assert_item(x):
    """assert of an .item()"""
    assert x.sum().item() > 0
    return x + 1


def program_assert_shape(x):
    """assert of a shape"""
    assert x.shape[0] == 4, "four rows"
    return x + 1


def program_assert_allclose(x):
    """assert torch.allclose"""
    assert torch.allclose(x, x), "same"
    return x + 1


def program_raise_on_tensor(x):
    """if on a tensor whose body only raises"""
    if x.sum() < 0:
        raise ValueError("negative")
    return x + 1


def program_raise_on_isnan(x):
    """if on isnan().any() whose body only raises"""
    if torch.isnan(x).any():
        raise ValueError("nan")
    return x + 1


def program_early_return(x):
    """if on a tensor whose body returns"""
    if x.sum() < 0:
        return x
    return x + 1


def program_print_in_loop(x):
    """print in a for loop"""
    for e in range(2):
        x = x + e
        print(e)
    return x


def program_print_in_try(x):
    """print in a try block"""
    try:
        x = x + 1
        print("a")
        x = x * 2
    except ValueError:
        x = x - 1
    return x


def program_print_in_with(x):
    """print under torch.no_grad"""
    with torch.no_grad():
        x = x + 1
        print("a")
        x = x * 2
    return x


def program_print_in_comprehension(x):
    """print inside a list comprehension"""
    return [x + 1 for _ in range(2) if print("a") is None]


def program_item_in_comprehension(x):
    """.item() inside a list comprehension"""
    values = [row.sum().item() for row in x]
    return x * values[0]


def program_item_in_loop(x):
    """.item() in a for loop"""
    total = 0.0
    for row in x:
        total += row.sum().item()
    return x * total


def program_branch_in_loop(x):
    """if on a tensor in a for loop"""
    for row in range(3):
        if x[row].sum() > 0:
            x = x + 1
    return x


def program_break_in_loop(x):
    """break out of a loop on a tensor test"""
    for _ in range(3):
        x = x * 2
        if x.max() > 4:
            break
    return x


def program_nonzero_in_loop(x):
    """nonzero in a loop over experts"""
    out = torch.zeros_like(x)
    for expert in range(2):
        rows = torch.where(x[:, 0] > expert * 0.5)[0]
        out[rows] = x[rows] + expert
    return out


def program_loop_over_tensor(x):
    """for over a tensor's rows"""
    for row in x:
        x = x + row
    return x


def program_loop_over_range_of_tensor(x):
    """for over range(int tensor)"""
    for _ in range(x.shape[0]):
        x = x + 1
    return x


def program_loop_over_nonzero(x):
    """for over nonzero()"""
    for index in (x > 0.5).nonzero():
        x = x + index.sum()
    return x


def program_loop_over_unique(x):
    """for over unique()"""
    for value in torch.unique(x.round()):
        x = x + value
    return x


def program_loop_over_tolist(x):
    """for over tolist()"""
    for value in x[:, 0].long().tolist():
        x = x + value
    return x


def program_match_on_tensor(x):
    """match on a tensor against a number"""
    match x.sum():
        case 0:
            return x
        case _:
            return x + 1


def program_match_on_string(x):
    """match on a string"""
    mode = "a"
    match mode:
        case "a":
            return x + 1
        case _:
            return x


def program_match_on_shape(x):
    """match on a shape"""
    match x.shape:
        case (a, b):
            return x + a
        case _:
            return x


def program_class_definition(x):
    """class defined inside"""
    class Inner:
        value = 1

    return x + Inner.value


def program_function_definition(x):
    """function defined inside"""
    def inner(y):
        return y + 1

    return inner(x)


def program_recursive_closure(x):
    """closure that calls itself"""
    def inner(y, n):
        return y if n == 0 else inner(y + 1, n - 1)

    return inner(x, 3)


def program_lambda(x):
    """lambda"""
    return (lambda y: y + 1)(x)


def program_import(x):
    """import inside"""
    import math

    return x + math.pi


def program_import_from(x):
    """from import inside"""
    from math import sqrt

    return x + sqrt(2)


def program_import_not_loaded(x):
    """import of a module that is not loaded yet"""
    import colorsys

    return x + colorsys.ONE_THIRD


def program_import_torch(x):
    """import of a torch module inside"""
    import torch.nn.functional as functional

    return functional.relu(x)


def program_import_missing(x):
    """try import of a missing module"""
    try:
        import missing_module_of_nobody  # noqa: F401
    except ImportError:
        x = x + 1
    return x


def program_raise_caught(x):
    """built-in exception raised and caught inside"""
    try:
        raise ValueError("a")
    except ValueError:
        return x + 1


def program_raise_custom_caught(x):
    """user's exception raised and caught inside"""
    try:
        raise Simple("a")
    except Simple:
        return x + 1


def program_raise_custom_init_caught(x):
    """user's exception with super().__init__ raised and caught inside"""
    try:
        raise Failure("a")
    except Failure as problem:
        return x + len(problem.message)


def program_key_error_caught(x):
    """missing key caught"""
    try:
        return x + {}["a"]
    except KeyError:
        return x + 1


def program_attribute_error_caught(x):
    """missing attribute caught"""
    try:
        return x + counter.missing
    except AttributeError:
        return x + 1


def program_op_error_caught(x):
    """error of an operator caught"""
    try:
        return x @ x
    except RuntimeError:
        return x + 1


def program_finally(x):
    """try/finally"""
    try:
        x = x + 1
    finally:
        x = x * 2
    return x


def program_reraise(x):
    """raise from inside except"""
    try:
        try:
            raise ValueError("a")
        except ValueError as problem:
            raise RuntimeError("b") from problem
    except RuntimeError:
        return x + 1


def program_delete_local(x):
    """del of a local"""
    y = x + 1
    z = y * 2
    del y
    return z


def program_delete_item(x):
    """del of a dict item"""
    d = {"a": x, "b": x}
    del d["a"]
    return d["b"] + 1


def program_delete_attribute(x):
    """del of an attribute"""
    made = Counter()
    made.extra = 1
    del made.extra
    return x + 1


def program_delete_global_item(x):
    """del of a global dict's item"""
    CACHE["a"] = 1
    del CACHE["a"]
    return x + 1


def program_global_counter(x):
    """global integer incremented"""
    global COUNT
    COUNT += 1
    return x + COUNT


def program_global_list_append(x):
    """append to a global list"""
    SEEN.append(1)
    return x + 1


def program_global_list_append_tensor(x):
    """append a tensor to a global list"""
    SEEN.append(x)
    return x + 1


def program_global_dict_store(x):
    """store into a global dict"""
    CACHE["b"] = x
    return x + 1


def program_nonlocal(x):
    """nonlocal counter"""
    n = 0

    def inner():
        nonlocal n
        n += 1

    inner()
    return x + n


def program_generator(x):
    """generator function consumed"""
    return x + sum(_numbers(3))


def program_generator_tensors(x):
    """generator of tensors consumed"""
    return torch.stack(list(_tensors(x)))


def program_yield_from(x):
    """yield from"""
    return torch.stack(list(_delegating(x)))


def program_generator_send(x):
    """generator driven by send"""
    def inner():
        got = yield 1
        yield got

    made = inner()
    next(made)
    return x + made.send(2)


def program_generator_returned(x):
    """generator expression returned"""
    return (row + 1 for row in x)


def program_generator_close(x):
    """generator closed"""
    made = _numbers(3)
    next(made)
    made.close()
    return x + 1


def program_next_default(x):
    """next of a generator expression with a condition"""
    return x + next((e for e in [1, 2, 3] if e > 1), 0)


def program_walrus(x):
    """walrus"""
    if (n := x.shape[0]) > 2:
        x = x + n
    return x


def program_star_arguments(x):
    """call with * and **"""
    def inner(*args, **kwargs):
        return args[0] + kwargs["n"]

    return inner(*[x], **{"n": 2})


def program_unpack(x):
    """star unpacking of a tensor"""
    first, *rest = x
    return first + rest[0]


def program_dict_merge(x):
    """dict literal with **"""
    d = {**{"a": x}, "b": 1}
    return d["a"] + d["b"]


def program_dict_comprehension(x):
    """dict comprehension"""
    return {k: x + k for k in range(2)}


def program_nested_comprehension(x):
    """nested comprehension"""
    return [[row[e] for e in range(2)] for row in x]


def program_property(x):
    """property of an object"""
    return x + counter.double


def program_cached_property(x):
    """functools.cached_property of an object"""
    return x + counter.cached


def program_static_and_class_method(x):
    """static and class methods"""
    return Counter.static(x) + Counter.made().n


def program_object_mutated(x):
    """attribute of a global object incremented"""
    counter.bump()
    return x + counter.n


def program_class_attribute_store(x):
    """class attribute incremented"""
    Counter.total += 1
    return x + 1


def program_callable_object(x):
    """object with __call__"""
    return counter(x)


def program_getattr_hook(x):
    """__getattr__"""
    return x + counter.dynamic


def program_dunder_methods(x):
    """__len__, __getitem__, __iter__, __contains__, __bool__ of an object"""
    n = len(counter) + counter[1] + sum(counter) + (1 in counter)
    return x + n if counter else x


def program_object_equality(x):
    """__eq__ of an object"""
    return x + 1 if counter == Counter() else x


def program_object_as_dict_key(x):
    """object as a dict key"""
    return x + {counter: 1}[counter]


def program_tensor_as_dict_key(x):
    """tensor as a dict key"""
    return x + {x: 1}[x]


def program_tensor_in_list(x, ts):
    """tensor in list of tensors"""
    return x + 1 if ts[0] in ts else x


def program_tensor_equality_branch(x, y):
    """if on torch.equal"""
    return x + 1 if torch.equal(x, y) else x


def program_tensor_or_default(x):
    """x or default on a tensor"""
    t = x.sum()
    return t or x


def program_tensor_if_none(x):
    """if mask is not None"""
    mask = None
    if mask is not None:
        x = x * mask
    return x + 1


def program_len_branch(x):
    """if on a size"""
    return x + 1 if len(x) > 2 else x


def program_numel_branch_after_mask(x):
    """if on the size of a masked tensor"""
    picked = x[x > 0.5]
    if picked.numel() == 0:
        return x
    return picked.sum()


def program_module_counter(x):
    """integer attribute of a module incremented"""
    module.steps += 1
    return x + 1


def program_module_float_store(x):
    """float attribute of a module set"""
    module.scale = 2.5
    return x * module.scale


def program_module_history_append(x):
    """tensor appended to a module's list"""
    module.history.append(x.detach())
    return x + 1


def program_module_last_tensor(x):
    """tensor stored on a module"""
    module.last = x.detach()
    return x + 1


def program_module_item_store(x):
    """.item() stored on a module"""
    module.last = x.sum().item()
    return x + 1


def program_module_buffer_update(x):
    """buffer of a module updated in place"""
    module.total += x.sum()
    return x + module.total


def program_buffer_branch(x):
    """if on a module's buffer"""
    return x + 1 if module.total > 0 else x


def program_training_branch(x):
    """if self.training"""
    return x + 1 if module.training else x


def program_config_branch(x):
    """if on a global dict's value"""
    return x + 1 if config["scale"] > 1 else x


def program_logger_in_branch(x):
    """logger behind a constant false flag"""
    debug = False
    if debug:
        logger.info("a")
    return x + 1


def program_logger_compiling_guard(x):
    """logger behind torch.compiler.is_compiling"""
    if not torch.compiler.is_compiling():
        logger.info("a")
    return x + 1


def program_print_scripting_guard(x):
    """print behind torch.jit.is_scripting"""
    if torch.jit.is_scripting():
        print("a")
    return x + 1


def program_warn_once(x):
    """warning in a branch that is not taken"""
    if x.shape[0] > 100:
        import warnings

        warnings.warn("a")
    return x + 1


def program_lock(x):
    """with a global lock"""
    with lock:
        return x + 1


def program_suppress(x):
    """contextlib.suppress around an error"""
    with contextlib.suppress(KeyError):
        x = x + {}["a"]
    return x + 1


def program_nested_with(x):
    """no_grad and autocast around matmul"""
    with torch.no_grad():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ x.T


def program_decorated_no_grad(x):
    """function under torch.no_grad defined inside"""
    @torch.no_grad()
    def inner(y):
        return y + 1

    return inner(x)


def program_optional_argument(x, missing=None):
    """optional argument"""
    return x + 1 if missing is None else x


def program_enum_compare(x):
    """enum member compared"""
    return x + 1 if Color.RED == Color.RED else x


def program_string_building(x):
    """f-string with sizes built and unused"""
    name = f"{x.shape[0]}_{x.dtype}"
    return x + len(name)


def program_type_annotation(x):
    """local annotations and typing.cast"""
    y: torch.Tensor = typing.cast(torch.Tensor, x)
    return y + 1


def program_inplace_on_input(x):
    """input changed in place"""
    x.add_(1)
    x[0] = 0
    return x


def program_out_argument(x):
    """out= argument"""
    out = torch.empty_like(x)
    torch.add(x, 1, out=out)
    return out


def program_global_tensor_inplace(x):
    """global tensor changed in place"""
    CONSTANT.add_(1)
    return x + CONSTANT


def program_topk_sampling(x):
    """top-k filter with masked_fill and multinomial"""
    values, _ = torch.topk(x, 2)
    x = x.masked_fill(x < values[..., -1:], float("-inf"))
    return torch.multinomial(F.softmax(x, -1), 1)


def program_top_p_sampling(x):
    """top-p filter with sort and scatter"""
    ordered, index = torch.sort(x, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > 0.9
    remove = remove.scatter(1, index, remove)
    return x.masked_fill(remove, float("-inf"))


def program_boolean_mask_mean(x):
    """mean over a boolean mask"""
    return x[x > 0.5].mean()


def program_masked_assign_where(x):
    """masked assignment of a constant"""
    x = x.clone()
    x[x > 0.5] = 0
    return x


def program_one_hot(x):
    """one_hot with the number of classes given"""
    return F.one_hot(x.argmax(-1), 3)


def program_item_used_as_size(x):
    """item used as a size"""
    n = int(x.argmax())
    return torch.zeros(n + 1) + 1


def program_lengths_to_mask(x, i):
    """mask from lengths with arange and max"""
    return torch.arange(i.max())[None] < i[:, None]


def program_lengths_to_mask_fixed(x, i):
    """mask from lengths with a fixed width"""
    return torch.arange(5)[None] < i[:, None]


def program_python_max_of_tensors(x):
    """builtin max and min of 0-d tensors"""
    return max(x.sum(), x.mean()) + min(x.max(), x.min())


def program_sum_of_losses(x):
    """builtin sum of a list of losses"""
    return sum([x.sum(), x.mean()])


def program_dict_of_metrics_items(x):
    """dict of .item() metrics"""
    return {"loss": x.sum().item(), "mean": x.mean().item()}


def program_detached_metrics(x):
    """dict of detached metrics"""
    return {"loss": x.sum().detach()}


def program_cpu_numpy_round_trip(x):
    """numpy round trip"""
    return torch.from_numpy(x.cpu().numpy() * 2)


def program_detach_numpy_item(x):
    """float of a numpy array's element"""
    return x * float(x.numpy()[0, 0])


def program_random_branch(x):
    """if on random.random()"""
    import random

    return x + 1 if random.random() > 0.5 else x


def program_torch_rand_branch(x):
    """if on torch.rand(1)"""
    return x + 1 if torch.rand(1) > 0.5 else x


def program_torch_rand_item_branch(x):
    """if on torch.rand(1).item()"""
    return x + 1 if torch.rand(1).item() > 0.5 else x


def program_layer_drop(x):
    """layer drop as written in transformers"""
    dropout = torch.rand([])
    if module.training and dropout < 0.1:
        return x
    return x + 1


def program_tensor_from_list_of_items(x):
    """torch.tensor of a list of .item()"""
    return torch.tensor([x.sum().item(), 1.0])


def program_tensor_from_tensors(x):
    """torch.tensor of a list of 0-d tensors"""
    return torch.tensor([x.sum(), x.mean()])


def program_shape_tensor(x):
    """torch.tensor of a shape"""
    return torch.tensor(x.shape)


def program_scatter_loop(x, i):
    """index_add with an int index"""
    return torch.zeros_like(x).index_add(0, i, x)


def program_chained_comparison(x):
    """0 < tensor < 1"""
    return x + 1 if 0 < x.sum() < 1 else x


def program_any_all_methods(x):
    """(x > 0).any() as a condition in where"""
    return torch.where((x > 0).any(), x, x + 1)


def program_is_nonzero(x):
    """torch.is_nonzero in a condition"""
    return x + 1 if torch.is_nonzero(x.sum()) else x


def program_isinstance_tensor(x):
    """isinstance of a tensor"""
    return x + 1 if isinstance(x, torch.Tensor) else x


def program_hasattr_module(x):
    """hasattr of a module"""
    return x + 1 if hasattr(module, "fc") else x


def program_super_call(x):
    """class with super().method called inside"""
    class Upper:
        def go(self, y):
            return y + 1

    class Lower(Upper):
        def go(self, y):
            return super().go(y)

    return Lower().go(x)


def program_async_function(x):
    """coroutine made and closed"""
    async def inner():
        return 1

    made = inner()
    made.close()
    return x + 1


def program_returns_none(x):
    """no tensor returned"""
    x.add_(1)
