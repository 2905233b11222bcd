"""Guard texts, as torch 2.6 to 2.15 write them, and the families they belong to."""

import pytest

from breakscope.dynamic.guards import classify, read_guard
from breakscope.dynamic.recompiles import recompile_reasons
from breakscope.rule import FAMILIES

KEYS = "expected DispatchKeySet(CPU, BackendSelect), actual DispatchKeySet(CUDA, BackendSelect)"
STACK = 'User stack trace:\n  File "/p/script.py", line 32, in scaled\n    return x * k + 1'
GUARDS = [
    ("tensor 'x' size mismatch at index 0. expected 2, actual 3", "size", "x"),
    ("tensor 'L['x']' size mismatch at index 0. expected 2, actual 3", "size", "x"),
    ("tensor 'x' rank mismatch. expected 2, actual 1", "size", "x"),
    ("(x.size()[0] % 4) != 0", "size", "x.size"),
    ("2 <= x.size()[1] <= 6", "size", "x.size"),
    ("tensor 'x' stride mismatch at index 0. expected 4, actual 8", "stride", "x"),
    ("tensor 'self._modules['fc']._parameters['bias']' dtype mismatch. expected Float, actual Double", "dtype",
     "self._modules['fc']._parameters['bias']"),
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
    ("expected type of 'k' to be a tensor type, ' but found <class 'NoneType'>", "none_argument", "k"),
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
]


@pytest.mark.parametrize(("text", "family", "name"), GUARDS)
def test_family(text, family, name):
    assert classify(text) == (family, name)
    assert family in FAMILIES


@pytest.mark.parametrize("reason", [
    "0/0: k == 2                # return x * k + 1  # /p/script.py:32 in scaled",
    f"0/0: k == 2                # return x * k + 1  # /p/script.py:32 in scaled\n{STACK}",
])
def test_line_of_guard(reason):
    guard = read_guard(reason)
    assert (guard.text, guard.path, guard.line) == ("k == 2", "/p/script.py", 32)


def test_hint_is_kept_apart():
    guard = read_guard("0/0: self.n == 0  # self.n += 1  # /p/m.py:13 in forward (HINT: torch.compile considers integer "
                       "attributes of the nn.Module to be static.)")
    assert (guard.text, guard.line) == ("self.n == 0", 13)
    assert guard.hint.startswith("torch.compile considers integer attributes")


@pytest.mark.parametrize(("payload", "reasons"), [
    ('["0/0: k == 2", "0/1: k == 3"]', ["0/0: k == 2", "0/1: k == 3"]),
    ("0/0: k == 2", ["0/0: k == 2"]),
    ('"0/0: k == 2"', ["0/0: k == 2"]),
    ("", []), ("3", []), ("[]", []),
])
def test_reasons_in_every_dialect(payload, reasons):
    assert recompile_reasons(payload) == reasons
