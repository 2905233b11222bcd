"""Guards that failed, sorted into families, and the user's line that each one guards.

Every text that torch 2.6 to 2.15 can give as a reason has a family: those of the Python guards
(`GuardBuilder` in torch/_dynamo/guards.py), those that guards.cpp words itself, and those that are
no guard (another backend, a freed object).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from breakscope import limits
from breakscope.dynamic.trace.dialects import in_user_words

COMMENT = re.compile(r"(?<!\s)\s+#\s(?P<rest>.*)", re.DOTALL)
PLACE = re.compile(r"#\s*(?P<path>[^#\s][^#\n]*?):(?P<line>\d{1,9}) in (?P<function>[\w<>.]+)")
PREFIX = re.compile(r"^\s*(?:- )?(?:!?\d+/)?\d+/\d+(?:_\d+)?: ")
STACK_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d{1,9}), in (?P<name>\S+)')
OBJECT_ID = re.compile(r", \d{6,}(?=\))")  # differs from run to run
HINT = re.compile(r"(?<!\s)\s*\(HINT: (?P<hint>.*?)\)\s*$", re.DOTALL)

# A guard that could not be evaluated: what it reads is gone.
MISSING_ATTRIBUTE = re.compile(r"'(?P<type>[\w.]+)' object has no attribute '(?P<attribute>\w+)'")
GONE = re.compile(r"Cache line invalidated because (?P<name>.+) got deallocated")
MISSING_KEY = re.compile(r"KeyError on (?P<name>.+)\[(?P<key>[^\[\]]+)\]$")
TENSOR = re.compile(
    r"tensor '(?P<name>.+?)' (?P<what>size|stride|dtype|rank|requires_grad|dispatch key set|device)"
)
EXPECTED_TENSOR = re.compile(
    r"expected type of '(?P<name>.+?)' to be a tensor type, ' but found (?P<found>.+)"
)
GLOBAL_STATE = (
    ("autocast", "autocast"),
    ("grad_mode", "grad_mode"),
    ("default_dtype", "default_dtype"),
    ("inference_mode", "grad_mode"),
)
# Not of one value: modes, devices and transforms that are switched on around a call.
SURROUNDINGS = re.compile(
    r"torch_function_mode_stack|compare_functorch_state|saved_tensors_hooks|forward_ad\._current_level|"
    r"CURRENT_DEVICE"
)
FUNCTIONS = (
    "function",
    "method",
    "builtin_function_or_method",
    "functools.partial",
    "type",
    "code",
)
SIZE = re.compile(
    r"\.(?:size\(\)|shape\b\[|ndimension\(\)|_size\b)|\b[su]\d+\b(?! ==)|Eq\(|Ne\(|Shape guard failed|_dim_marking|"
    r"_dynamo_\w*_(?:indices|range)"
)
LAYOUT = re.compile(r"\.(?:stride|storage_offset)\(\)")
TENSOR_FACT = re.compile(r"\.(?P<what>dtype|device|requires_grad)\b\)? == ")
COMPARE = re.compile(
    r"^(?:not )?(?P<left>.+?)\s*(?P<op>==|!=|<=|>=|<|>|\bis not\b|\bis\b)\s*(?P<right>.+?)$"
)
BETWEEN = re.compile(r"^-?\d+ <=? (?P<name>.+?)(?: <=? -?\d+)?$")
LITERALS = (
    (re.compile(r"(?:True|False)$"), "bool_argument"),
    (re.compile(r"[-+]?\d+$"), "int_argument"),
    (
        re.compile(r"[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)$|\(?[-+\d.einfa]*j\)?$"),
        "float_argument",
    ),
    (re.compile(r"""[bru]?['"]"""), "str_argument"),
    (
        re.compile(
            r"torch\.(?:strided|jagged|_mkldnn|sparse_\w+|\w+_format|channels_last\w*)$|<[\w.]+: "
        ),
        "enum_argument",
    ),
    (re.compile(r"torch\.\w+$|dtype\("), "dtype"),
    (re.compile(r"device\("), "device"),
    (re.compile(r"<class "), "type"),
    (re.compile(r"[(\[{]|(?:range|slice|frozenset|torch\.Size)\("), "container_key"),
)


@dataclass(frozen=True)
class Guard:
    """One guard that failed. `name` is what it guards, in the user's words ("self.steps"); `path`
    and `line` are where the user's code needs it, "" and 0 when Dynamo does not name them."""

    text: str
    family: str
    name: str
    path: str = ""
    line: int = 0
    hint: str = ""


def read_guard(reason: str) -> Guard:
    """Read one recompile reason: "0/0: k == 2   # return x * k + 1  # /p/script.py:32 in scaled",
    in any dialect."""
    text = PREFIX.sub("", reason[: limits.LONGEST_GUARD * 10].strip())
    text, _, stack = text.partition("User stack trace:")
    hint = ""
    comment = COMMENT.search(text)
    guard = text[: comment.start()] if comment else text
    tail = comment["rest"] if comment else ""
    found_hint = HINT.search(guard) or HINT.search(tail)
    if found_hint:
        hint = " ".join(found_hint["hint"].split())
        guard = HINT.sub("", guard)
    guard = OBJECT_ID.sub("", in_user_words(" ".join(guard[: limits.LONGEST_GUARD].split())))
    path, line = _place(stack, "#" + text[comment.start() :] if comment else "")
    family, name = classify(guard)
    return Guard(guard, family, name, path, line, hint)


def classify(guard: str) -> tuple[str, str]:
    """The family of a guard's text (one of breakscope.rulekit.rule.FAMILIES) and the name of what it
    guards."""
    plain = in_user_words(guard)
    tensor = TENSOR.search(plain)
    if tensor:
        return _tensor_family(tensor["what"], plain), tensor["name"]
    if missing := MISSING_ATTRIBUTE.match(plain):
        return ("none_argument" if missing["type"] == "NoneType" else "type"), ""
    if missing := MISSING_KEY.match(plain):
        return "container_key", missing["name"]
    if plain.startswith("BACKEND_MATCH"):
        return "backend", ""
    if gone := GONE.match(plain):
        return "object_identity", gone["name"]
    if "GLOBAL_STATE" in plain or "global_state" in plain.lower() or SURROUNDINGS.search(plain):
        return next((family for word, family in GLOBAL_STATE if word in plain), "global_state"), ""
    if _is_optimizer(plain):
        return "optimizer_state", _subject(plain)
    if "Duplicate tensor" in plain or "aliasing" in plain.lower():
        return "alias", ", ".join(re.findall(r'"([^"]+)"', plain))
    expected = EXPECTED_TENSOR.search(plain)
    if expected:
        return ("none_argument" if "NoneType" in expected["found"] else "type"), expected["name"]
    if "_isnan(" in plain:
        return "float_argument", _subject(plain)
    if re.search(r"___check_(?:metadata|opaque|fake_script)|__dtensor_spec", plain):
        return "type", _subject(plain)
    if "_parameters" in plain and re.search(r"\blen\(|dict_contains|\bkeys\(", plain):
        return "module_parameters", _subject(plain)
    if re.search(r"\blen\(|iterator_len\(|normalize_range_iter\(", plain) or re.match(
        r"not [\w.\[\]'\"()]+$", plain
    ):
        return "container_length", _subject(plain)
    if re.search(r"dict_contains|set_contains|__contains__|\bkeys\(|dict_version", plain):
        return _presence_family(plain), _subject(plain)
    if "check_obj_id" in plain or "___check_obj" in plain or re.search(r"\bid\(", plain):
        return _object_family(plain), _subject(plain)
    if "check_type_id" in plain or re.match(r"type\(\S+\) (?:is|==) |isinstance\(", plain):
        return "type", _subject(plain)
    if "hasattr" in plain and not SIZE.search(plain):
        return "attribute", _subject(plain)
    return _comparison_family(plain)


def _comparison_family(plain: str) -> tuple[str, str]:
    found = COMPARE.match(plain)
    if LAYOUT.search(plain):
        return "stride", _subject(plain)
    if SIZE.search(plain):
        return "size", _subject(plain)
    if fact := TENSOR_FACT.search(plain):
        return fact["what"], _subject(plain)
    if between := BETWEEN.match(plain):
        return _owner(between["name"]) or "int_argument", _subject(plain)
    if not found:
        return "other", _subject(plain)
    left, operator, right = found["left"].strip(), found["op"], found["right"].strip()
    if right == "None":
        return "none_argument", left
    if operator.startswith("is"):
        return "alias", left
    kind = next((family for pattern, family in LITERALS if pattern.match(right)), "")
    if "(" in left:
        inside = _subject(plain)
        return (_owner(inside) or _constant_kind(left) or kind or "other"), inside
    return (_owner(left) or kind or "other"), left


def _constant_kind(left: str) -> str:
    """Of a counter or of an object of a class that derives from int, float or str."""
    wrapped = re.match(r"(?P<kind>int|float|str|___normalize_count_iter)\(", left)
    return (
        {"float": "float_argument", "str": "str_argument"}.get(wrapped["kind"], "int_argument")
        if wrapped
        else ""
    )


def _owner(name: str) -> str:
    """Where a guarded Python value lives, when it is not an argument."""
    if name.startswith("G["):
        return "global"
    if "__closure__" in name or "cell_contents" in name:
        return "closure"
    if re.match(r"(?:dict\()?type\(\w+\)\.__dict__", name):
        return "attribute"
    # self.step too, which is no slice's step
    if re.match(r"self\.[A-Za-z_]", name) and "(" not in name:
        return "attribute"
    if (
        re.match(r"[a-z_]\w*\.(?!keywords\[|args\[|(?:start|stop|step)$)[A-Za-z_]", name)
        and "(" not in name
    ):
        return "attribute"
    return ""


def _presence_family(plain: str) -> str:
    """An object's attributes are a dict too."""
    if ".__dict__)" not in plain:
        return "container_key"
    return "global" if re.search(r"\bG\['\w+'\]\.__dict__", plain) else "attribute"


def _object_family(plain: str) -> str:
    kind = re.search(r"type=<class '(?P<name>[\w.<>]+)'>", plain)
    name = kind["name"] if kind else ""
    if name in ("bool", "NoneType"):
        return "bool_argument" if name == "bool" else "none_argument"
    if (
        not name
        or name in FUNCTIONS
        or "torch" in name
        or plain.startswith("___check_obj_id(self)")
    ):
        return "object_identity"
    owner = _owner(_subject(plain))
    if owner and "__code__" not in plain:
        return owner
    last = name.rpartition(".")[2]
    return "enum_argument" if "." in name and last[:1].isupper() else "object_identity"


def _tensor_family(what: str, plain: str) -> str:
    if what == "rank":
        return "size"
    if what != "dispatch key set":
        return what
    sets = re.findall(r"DispatchKeySet\(([^)]*)\)", plain)
    different = set(sets[0].split(", ")) ^ set(sets[1].split(", ")) if len(sets) == 2 else set()
    if any("Autocast" in key for key in different):
        return "autocast"
    # in inference mode no tensor has keys of autograd, and one that was made there never has
    if different and all(key.startswith(("Autograd", "ADInplaceOrView")) for key in different):
        return "grad_mode"
    kinds = tuple(
        "Sparse FuncTorch Python Conjugate Negative Nested ZeroTensor Quantized Mkldnn".split()
    )
    if any(key.startswith(kinds) for key in different):
        return "type"
    if any(
        key in ("CPU", "CUDA", "XPU", "MPS", "Meta", "HPU", "XLA", "PrivateUse1")
        for key in different
    ):
        return "device"
    return "requires_grad" if different else "other"


def _is_optimizer(plain: str) -> bool:
    return bool(
        re.search(
            r"param_groups|\bself\.state\[|\.state\[list\(dict\.keys|"
            r"optimi[sz]er\w*(?:'\])?(?:\.__dict__)?(?:\.|\[')(?:state|defaults|_)",
            plain,
        )
    )


def _subject(plain: str) -> str:
    """The first name with its attributes and indices in a guard's text."""
    if owned := re.search(
        r"(?:dict\()?type\((?P<object>\w+)\)\.__dict__\)?\['(?P<attribute>\w+)'\]", plain
    ):
        return f"{owned['object']}.{owned['attribute']}"
    inside = re.search(
        r"\b(?:len|___check_obj_id|___check_type_id|___tuple_iterator_len|___normalize_\w+|keys|type|id|hasattr|getattr|isinstance|"
        r"int|float|str)\((?P<name>[^,()]+(?:\(\))?)",
        plain,
    )
    if inside:
        return inside["name"].strip().removesuffix(".__code__").partition("[list")[0]
    contains = re.search(r"(?:dict|set)_contains\((?P<key>.+), (?P<name>[^,()]+)\)", plain)
    if contains:
        owner = contains["name"].strip()
        return (
            f"{owner.removesuffix('.__dict__')}.{contains['key'].strip(chr(39))}"
            if owner.endswith(".__dict__")
            else owner
        )
    contains = re.search(r"__contains__\((?P<name>[^,()]+),", plain)
    if contains:
        return contains["name"].strip()
    if (
        not COMPARE.match(plain)
        and not BETWEEN.match(plain)
        and not re.match(r"(?:not )?[\w.\[\]'\"]+$", plain)
    ):
        return ""
    names = re.findall(
        r"(?:G\['\w+'\]|[A-Za-z_]\w*)(?:\.\w+|\[[^\]]*\])*", plain.removeprefix("not ")
    )
    return names[0].partition("[list")[0] if names else ""


def _place(stack: str, comment: str) -> tuple[str, int]:
    frames = STACK_FRAME.findall(stack)
    if frames:
        return frames[-1][0], int(frames[-1][1])
    found = PLACE.search(comment)
    return (found["path"].strip(), int(found["line"])) if found else ("", 0)
