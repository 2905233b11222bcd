"""Classes, imports, exceptions, closures and objects."""
# ruff: noqa

import contextlib
import enum
import functools
import threading
import torch
import typing

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


def program_property(x):
    """property of an object"""
    return x + counter.double


def program_cached_property(x):
    """functools.cached_property of an object"""
    return x + counter.cached


def program_static_and_class_method(x):
    """static and class methods"""
    return Counter.static(x) + Counter.made().n


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


def program_any_all_methods(x):
    """(x > 0).any() as a condition in where"""
    return torch.where((x > 0).any(), x, x + 1)


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
