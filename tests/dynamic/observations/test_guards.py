"""Guard texts, as torch 2.6 to 2.15 write them, and the families they belong to."""

from pathlib import Path

import pytest

from breakscope.dynamic.findings.recompile_advice import FIXES, About, fix
from breakscope.dynamic.findings.wording import cause, values
from breakscope.dynamic.observations.facts import FrameCompile
from breakscope.dynamic.observations.guards.families import classify, read_guard
from breakscope.dynamic.observations.guards.origins import is_captured, origin
from breakscope.dynamic.observations.ownership import Places
from breakscope.dynamic.observations.recompiles import read_recompiles, recompile_reasons
from breakscope.dynamic.trace.records import Record
from breakscope.rulekit.rule import FAMILIES

KEYS = "expected DispatchKeySet(CPU, BackendSelect), actual DispatchKeySet(CUDA, BackendSelect)"
STACK = 'User stack trace:\n  File "/p/script.py", line 32, in scaled\n    return x * k + 1'
GUARDS = [
    ("tensor 'x' size mismatch at index 0. expected 2, actual 3", "size", "x"),
    ("tensor 'L['x']' size mismatch at index 0. expected 2, actual 3", "size", "x"),
    ("tensor 'x' rank mismatch. expected 2, actual 1", "size", "x"),
    ("(x.size()[0] % 4) != 0", "size", "x.size"),
    ("2 <= x.size()[1] <= 6", "size", "x.size"),
    ("tensor 'x' stride mismatch at index 0. expected 4, actual 8", "stride", "x"),
    (
        "tensor 'self._modules['fc']._parameters['bias']' dtype mismatch. expected Float, actual Double",
        "dtype",
        "self._modules['fc']._parameters['bias']",
    ),
    ("tensor 'x' requires_grad mismatch. expected requires_grad=0", "requires_grad", "x"),
    (f"tensor 'x' dispatch key set mismatch. {KEYS}", "device", "x"),
    ("GLOBAL_STATE changed: grad_mode", "grad_mode", ""),
    ("GLOBAL_STATE changed: autocast(cpu)_enabled", "autocast", ""),
    ("GLOBAL_STATE changed: default_dtype", "default_dtype", ""),
    ("GLOBAL_STATE changed: num_threads", "global_state", ""),
    ("q is kv", "alias", "q"),
    ('Duplicate tensors found: ["x", "y"]', "alias", "x, y"),
    ("L['k'] == 2", "int_argument", "k"),
    ("k == 0.5", "float_argument", "k"),
    ("k == True", "bool_argument", "k"),
    ("reduction == 'mean'", "str_argument", "reduction"),
    ("d == torch.float32", "dtype", "d"),
    ("___check_obj_id(phase, 1401), type=<class 'cases.Phase'>", "enum_argument", "phase"),
    ("___check_obj_id(f.__code__, 1401), type=<class 'code'>", "object_identity", "f"),
    (
        "expected type of 'k' to be a tensor type, ' but found <class 'NoneType'>",
        "none_argument",
        "k",
    ),
    ("self.cache_k is None", "none_argument", "self.cache_k"),
    ("self.steps == 0", "attribute", "self.steps"),
    ("L['self'].config.use_bias == True", "attribute", "self.config.use_bias"),
    ("G['MODE'] == 1", "global", "G['MODE']"),
    ("not self.history", "container_length", "self.history"),
    ("len(G['SEEN']) == 1", "container_length", "G['SEEN']"),
    ("not ___dict_contains((2, 'pos'), self.cache)", "container_key", "self.cache"),
    ("set.__contains__(d, 2)", "container_key", "d"),
    ("___check_type_id(o, 1401), type=<class 'list'>", "type", "o"),
    ("self.param_groups[0]['lr'] == 0.1", "optimizer_state", "self.param_groups[0]['lr']"),
    ("len(m._parameters) != 2", "module_parameters", "m._parameters"),
    ("something that no torch ever wrote", "other", ""),
    ("2 <= x1.storage_offset()", "stride", "x1.storage_offset"),
    ("x.size()[0] != y.size()[0]", "size", "x.size"),
    ("self.size == 3", "attribute", "self.size"),
    ("0 <= k <= 9", "int_argument", "k"),
    ("s1 == 'a'", "str_argument", "s1"),
    ("s == 1j", "float_argument", "s"),
    ("(type(s) is float and __math_isnan(s))", "float_argument", "s"),
    ("s == b'a'", "str_argument", "s"),
    ("d == {'a'}", "container_key", "d"),
    ("f == torch.channels_last", "enum_argument", "f"),
    ("list(dict.keys(d))[0] == 'a'", "container_key", "d"),
    ("___tuple_iterator_len(it) == 3", "container_length", "it"),
    ("___normalize_range_iter(r) == (0, 3, 1)", "container_length", "r"),
    ("___normalize_count_iter(self.c) == (0, 1)", "attribute", "self.c"),
    ("int(k) == 3", "int_argument", "k"),
    ("dict(type(self).__dict__)['SCALE'] == 2", "attribute", "self.SCALE"),
    ("not ___dict_contains('scale', G['CFG'].__dict__)", "global", "G['CFG'].scale"),
    ("not hasattr(cfg, 'extra')", "attribute", "cfg"),
    ("hasattr(x, '_dynamo_dynamic_indices') == False", "size", "x"),
    ("___check_obj_id(self.mode, 1401), type=<class 'cases.Mode'>", "attribute", "self.mode"),
    (
        "___check_obj_id(self.act, 1401), type=<class 'builtin_function_or_method'>",
        "object_identity",
        "self.act",
    ),
    (
        "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), actual DispatchKeySet(SparseCPU)",
        "type",
        "x",
    ),
    (
        "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), actual DispatchKeySet(CPU, FuncTorchBatched)",
        "type",
        "x",
    ),
    ("___check_torch_function_mode_stack()", "global_state", ""),
    ("torch._functorch.pyfunctorch.compare_functorch_state([])", "global_state", ""),
    ("torch.autograd.forward_ad._current_level == -1", "global_state", ""),
    ("utils_device.CURRENT_DEVICE == None", "global_state", ""),
    (
        "BACKEND_MATCH failure: torch.compile detected different backend callables. Cached backend: f.",
        "backend",
        "",
    ),
    ("Cache line invalidated because L['x'] got deallocated", "object_identity", "x"),
    ("Shape guard failed with values: 3, 4", "size", ""),
    ("'NoneType' object has no attribute 'size'", "none_argument", ""),
    ("'Config' object has no attribute 'size'", "type", ""),
    ("KeyError on ___stack0['loss']", "container_key", "___stack0"),
]


@pytest.mark.parametrize(("text", "family", "name"), GUARDS)
def test_family(text, family, name):
    assert classify(text) == (family, name)
    assert family in FAMILIES


@pytest.mark.parametrize(
    "reason",
    [
        "0/0: k == 2                # return x * k + 1  # /p/script.py:32 in scaled",
        f"0/0: k == 2                # return x * k + 1  # /p/script.py:32 in scaled\n{STACK}",
    ],
)
def test_line_of_guard(reason):
    guard = read_guard(reason)
    assert (guard.text, guard.path, guard.line) == ("k == 2", "/p/script.py", 32)


WORDS = [  # guards that failed for one thing, what is words of them, the values
    (["k == 2"], "`k` is not 2 any more", ("2",)),
    (["(64 % n) == 0"], "the code was compiled for `(64 % n) == 0` only", ()),
    (["k == 2", "k == 3", "k == 4"], "`k` changed: 2, 3, 4", ("2", "3", "4")),
    (["k == 3", "k == 0.5", "k == 10"], "`k` changed: 0.5, 3, 10", ("0.5", "3", "10")),
    (["k == 'b'", "k == 'a'"], "`k` changed: 'b', 'a'", ("'b'", "'a'")),
    (
        [
            "tensor 'x' size mismatch at index 1. expected 2, actual 3",
            "tensor 'x' size mismatch at index 1. expected 3, actual 5",
        ],
        "dimension 1 of `x` changed: 2, 3, 5",
        ("2", "3", "5"),
    ),
    (
        [
            "tensor 'self._modules['layers']._modules['0']._parameters['bias']' dtype mismatch. expected Float, actual Half. Guard "
            "failed on a parameter, consider using ..."
        ],
        "the dtype of `self.layers[0].bias` was Float and is Half now",
        ("Float", "Half"),
    ),
    (
        ["tensor 'x' rank mismatch. expected 2, actual 1"],
        "the number of dimensions of `x` was 2 and is 1 now",
        ("1", "2"),
    ),
    (
        ["expected type of 'k' to be a tensor type, ' but found <class 'NoneType'>"],
        "`k` was Tensor and is None now",
        ("Tensor", "None"),
    ),
    (["___stack0 == 3"], "the value that line 7 gave is not 3 any more", ("3",)),
    (
        ["Cache line invalidated because L['net'] got deallocated"],
        "`net` of the earlier call, which the code was compiled for, is gone",
        (),
    ),
    (["not G['SEEN']", "len(G['SEEN']) == 1"], "the length of `SEEN` changed: 0, 1", ("0", "1")),
    (
        ["len(G['__import_pack_dot__inner'].kinds) == 1"],
        "the length of `pack._inner.kinds` is not 1 any more",
        ("1",),
    ),
    (
        ['Duplicate tensors found: ["x", "y"]'],
        "`x` and `y` are the same tensor now and were not before",
        (),
    ),
    (["not ___dict_contains('scale', G['CFG'].__dict__)"], "`CFG.scale` exists now", ()),
    (
        [
            "tensor 'x' size mismatch at index 0. expected 2, actual 3",
            "tensor 'x' size mismatch at index 1. expected 16, actual 32",
        ],
        "`x` changed in dimension 0 (2, 3) and dimension 1 (16, 32)",
        ("2", "3", "16", "32"),
    ),
    (
        [
            "tensor 'x' rank mismatch. expected 3, actual 4",
            "tensor 'x' size mismatch at index 1. expected 16, actual 32",
        ],
        "the number of dimensions of `x` changed: 3, 4",
        ("3", "4", "16", "32"),
    ),
    (["2 <= x.size()[0] <= 8"], "dimension 0 of `x` is outside of 2 to 8 now", ()),
    (["2 <= self.x.size()[1]"], "dimension 1 of `self.x` is less than 2 now", ()),
    (["2 <= x.storage_offset()"], "the storage offset of `x` is less than 2 now", ()),
    (["x.stride()[0] <= 8"], "the stride of dimension 0 of `x` is more than 8 now", ()),
    (["'NoneType' object has no attribute 'size'"], "something that had `.size` is None now", ()),
    (
        ["'Config' object has no attribute 'size'"],
        "something that had `.size` is a `Config` now",
        (),
    ),
    (["KeyError on ___stack0['loss']"], "the value that line 7 gave has no 'loss' any more", ()),
    (["GLOBAL_STATE changed: num_threads "], "a global switch of torch changed (num_threads)", ()),
    (
        ["something that no torch ever wrote"],
        "the code was compiled for `something that no torch ever wrote` only",
        (),
    ),
]


@pytest.mark.parametrize(("texts", "words", "seen"), WORDS)
def test_plain_words(texts, words, seen):
    guards = [read_guard(text) for text in texts]
    assert (cause(guards, 7), values(guards)) == (words, seen)


def test_every_family_has_a_fix_and_stands_on_the_page():
    page = (
        Path(__file__).resolve().parents[3] / "rules" / "brk951_recompile_seen_only_by_a_run.py"
    ).read_text(encoding="utf-8")
    assert set(FIXES) == set(FAMILIES)
    assert [family for family in FAMILIES if f"`{family}`" not in page] == []


def test_fixes_name_the_dimension_and_the_switch():
    size = read_guard("tensor 'x' size mismatch at index 1. expected 2, actual 3")
    assert "`torch._dynamo.mark_dynamic(x, 1)`" in fix([size])
    assert "`torch._dynamo.mark_dynamic(x, [0, 1])`" in fix(
        [size, read_guard("tensor 'x' size mismatch at index 0. expected 2, actual 3")]
    )
    assert "allow_unspec_int_on_nn_module" in fix([read_guard("self.steps == 4")])
    steps = [read_guard("self.steps == 0")]
    assert "allow_unspec_int_on_nn_module" in fix(steps, About(fixed=True))
    assert "makes the number dynamic" in fix(steps), "of an object that is no module"
    assert "allow_unspec_int_on_nn_module" not in fix([read_guard("self.beta == 0.5")])
    assert "torch.tensor" in fix([read_guard("self.param_groups[0]['lr'] == 0.1")])
    assert "in `__init__`" in fix([read_guard("self.cache_k is None")])
    assert fix([read_guard("mask is None")]) == FIXES["none_argument"]


ORIGINS = """
class Net:
    def __init__(self):
        self.table = make()

    @wrap
    def forward(
        self,
        x,
        *rest,
        mask=None,
    ):
        y = x + 1
        y = y.sum()
        later(self.scale, y)
        return lambda t: t * y


def outer(scale):
    def inner(x):
        return x * scale
    return inner
"""


@pytest.mark.parametrize(
    ("function", "first", "name", "resumed_at", "line"),
    [
        ("forward", 6, "x", 0, 9),
        ("forward", 6, "rest[0]", 0, 10),
        ("forward", 6, "mask", 0, 11),
        ("forward", 6, "self.scale", 0, 15),
        ("forward", 6, "self.table", 0, 4),
        ("forward", 6, "self.nowhere", 0, 8),
        ("forward", 15, "y", 15, 14),
        ("forward", 14, "y", 14, 13),
        ("forward", 15, "x", 15, 9),
        ("forward", 6, "y", 0, None),
        ("forward", 15, "___stack0", 15, 15),
        ("<lambda>", 16, "t", 0, 16),
        ("inner", 20, "x", 0, 20),
        ("forward", 6, "G['f']", 0, None),
        ("nobody", 6, "x", 0, None),
        ("forward", 6, "", 0, None),
    ],
)
def test_a_name_goes_back_to_its_definition(tmp_path, function, first, name, resumed_at, line):
    file = tmp_path / "net.py"
    file.write_text(ORIGINS)
    found = origin(FrameCompile("0/0", function, str(file), first, resumed_at=resumed_at), name)
    assert (found.line if found else None) == line


def test_captured_variables(tmp_path):
    file = tmp_path / "net.py"
    file.write_text(ORIGINS)
    inner = FrameCompile("0/0", "inner", str(file), 20)
    assert (
        is_captured(inner, "scale")
        and not is_captured(inner, "x")
        and not is_captured(inner, "elsewhere")
    )


def test_hint_is_kept_separately():
    guard = read_guard(
        "0/0: self.n == 0  # self.n += 1  # /p/m.py:13 in forward (HINT: torch.compile considers integer "
        "attributes of the nn.Module to be static.)"
    )
    assert (guard.text, guard.line) == ("self.n == 0", 13)
    assert guard.hint.startswith("torch.compile considers integer attributes")


@pytest.mark.parametrize(
    ("payload", "reasons"),
    [
        ('["0/0: k == 2", "0/1: k == 3"]', ["0/0: k == 2", "0/1: k == 3"]),
        ("0/0: k == 2", ["0/0: k == 2"]),
        ('"0/0: k == 2"', ["0/0: k == 2"]),
        ("", []),
        ("3", []),
        ("[]", []),
    ],
)
def test_reasons_in_every_dialect(payload, reasons):
    assert recompile_reasons(payload) == reasons


@pytest.mark.parametrize("short", ["models/net.py", "mp/models/net.py", "tmp/models/net.py"])
def test_a_guard_names_its_line_by_the_path_that_torch_left_of_it(short):
    """torch leaves out the folders that its own files share, and a character of the first one
    where they share none."""
    frame = FrameCompile("0/1", "forward", "/tmp/models/net.py", 3)
    places = Places(torch="/site-packages/torch", python=("/stdlib",), own="/nowhere")
    reason = f"0/0: x is y  # return x + y  # {short}:7 in add"
    record = Record("artifact", None, "recompile_reasons", f'["{reason}"]', "0/1", 0, "")
    (seen,) = read_recompiles([record], {"0/1": frame}, places)
    assert (seen.guard.family, seen.site.path, seen.site.line) == ("alias", frame.path, 7)
