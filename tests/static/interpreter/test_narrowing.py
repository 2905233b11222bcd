"""What code says of a tensor's dimensions: an item of a 1-d tensor is one number, and Dynamo ends the
graph where a number indexes a tensor, where an item of more dimensions does not (torch 2.13.0)."""

import pytest
from programs import analysed, found

HEAD = """import torch
from einops import einsum, pack, rearrange, reduce, repeat
from jaxtyping import Float, Int
from torch import Tensor


"""
CASES = {  # the index in the last line has these dimensions
    "a test": ("if x.ndim == 1:", "    return t[x[0]]", 0),
    "the other way": ("if x.dim() != 1:\n        return t", "return t[x[0]]", 0),
    "an assert": ("assert len(x.shape) == 2", "return t[x[0]]", 1),
    "a test with others": ("if t.ndim == 2 and x.ndim == 1:", "    return t[x[0]]", 0),
    "a test that is not met": ("if x.ndim == 1:\n        return t", "return t[x[0]]", None),
    "a shape": ("if x.shape != (3,):\n        raise ValueError", "return t[x[0]]", 0),
    "a size": ("assert x.size() == torch.Size([3, 3])", "return t[x[0, 0]]", 0),
    "two sizes": ("b, n = x.shape", "return t[x[0, 0]]", 0),
    "sizes by a method": ("b, n, d = x.size()", "return t[x[0, 0]]", 1),
    "sizes and more": ("b, n, device = *x.shape, x.device", "return t[x[0, 0]]", 0),
    "any number of sizes": ("b, *n = x.shape", "return t[x[0, 0]]", None),
    "einsum": ("y = torch.einsum('bn, bd -> nd', x, x)", "return t[y[0, 0]]", 0),
    "einsum with an ellipsis": (
        "b, n = x.shape\n    y = torch.einsum('...n, ...n -> ...', x, x)",
        "return t[y[0]]",
        0,
    ),
    "einsum of any": ("y = torch.einsum('...n, ...n -> ...', x, x)", "return t[y[0]]", None),
    "rearrange": ("y = rearrange(x, 'b n d -> b (n d)')", "return t[y[0, 0]]", 0),
    "rearrange of a list": ("y = rearrange([x, x], 'k b n -> (k b) n')", "return t[y[0]]", 1),
    "reduce": ("y = reduce(x, 'b n -> b', 'max')", "return t[y[0]]", 0),
    "repeat": ("y = repeat(x, 'n -> b n', b=2)", "return t[y[0, 0]]", 0),
    "einsum of einops": ("y = einsum(x, x, 'b n, b d -> n d')", "return t[y[0, 0]]", 0),
    "pack": ("y, shapes = pack([x, x], 'b *')", "return t[y[0, 0]]", 0),
}
TYPES = {
    "Int[Tensor, 'b n']": 0,
    "Int[Tensor, 'b n 3']": 1,
    "Int[Tensor, 'b *n']": None,
    "Float[Tensor, '...']": None,
}


def codes_in(source, tmp_path):
    return [code for code, _ in found(analysed(tmp_path, {"program.py": source}))]


@pytest.mark.parametrize("name", CASES)
def test_dimensions_of_a_name(name, tmp_path):
    said, last, ndim = CASES[name]
    source = f"{HEAD}@torch.compile\ndef f(x: Tensor, t: Tensor):\n    {said}\n    {last}\n"
    assert codes_in(source, tmp_path) == (["BRK213"] if ndim == 0 else [])


@pytest.mark.parametrize("said", ["b, n = x.shape", "assert x.ndim == 2"])
def test_what_has_dimensions_is_a_tensor(said, tmp_path):
    source = f"{HEAD}@torch.compile\ndef f(x, t: Tensor):\n    {said}\n    return t[x[0, 0]]\n"
    assert codes_in(source, tmp_path) == ["BRK213"]


@pytest.mark.parametrize("annotation", TYPES)
def test_dimensions_of_a_type(annotation, tmp_path):
    source = f"{HEAD}@torch.compile\ndef f(x: {annotation}, t: Tensor):\n    return t[x[0, 0]]\n"
    is_number = TYPES[annotation] == 0
    assert codes_in(source, tmp_path) == (["BRK213"] if is_number else [])


def test_a_type_that_a_project_makes_itself(tmp_path):
    source = HEAD + (
        "class Typed:\n"
        "    def __init__(self, dtype):\n"
        "        self.dtype = dtype\n\n"
        "    def __getitem__(self, axes):\n"
        "        return self.dtype[Tensor, axes]\n\n\n"
        "Ints = Typed(Int)\n\n\n"
        "@torch.compile\n"
        "def f(x: Ints['b n'], t: Tensor):\n"
        "    return t[x[0, 0]]\n"
    )
    assert codes_in(source, tmp_path) == ["BRK213"]


def test_patterns_over_anything_else_than_tensors(tmp_path):
    source = HEAD + (
        "from elsewhere import things\n\n\n"
        "@torch.compile\n"
        "def f(x: Tensor):\n"
        "    rearrange([1, 2], 'a -> a'), rearrange(things, 'a b -> a'), rearrange()\n"
        "    rearrange([t for t in things], 'k a b -> (k a) b'), rearrange([x, None], 'k a -> (k a)')\n"
        "    reduce(x, 3, 4), pack([], '*'), einsum('a b -> b'), torch.einsum(x)\n"
        "    return rearrange(pattern='a b -> b a', tensor=x)\n"
    )
    result = analysed(tmp_path, {"program.py": source})
    assert found(result) == [] and result.gaps == ()


USED_AS_A_MASK = {  # `m` is used as torch lets only masks be used, or as hardly anything else is
    "masked_fill": "y = x.masked_fill(m, 0.0)",
    "where": "y = torch.where(m, x, 0.0)",
    "the opposite": "y = x * ~m",
    "with another mask": "y = x * (m & (x > 0))",
    "any": "y = x + m.any()",
}


@pytest.mark.parametrize("used", USED_AS_A_MASK.values(), ids=USED_AS_A_MASK)
def test_what_is_used_as_a_mask_is_of_bools(used, tmp_path):
    source = f"{HEAD}@torch.compile\ndef f(x: Tensor, m: Tensor):\n    {used}\n    return y, x[m]\n"
    assert codes_in(source, tmp_path) == ["BRK302"]


@pytest.mark.parametrize("used", ["y = torch.where(m)", "y = x * m", "y = m & n", "y = m.sum()"])
def test_what_may_be_positions_stays_open(used, tmp_path):
    source = f"{HEAD}@torch.compile\ndef f(x: Tensor, m: Tensor, n: Tensor):\n    {used}\n    return x[m]\n"
    assert "BRK302" not in codes_in(source, tmp_path)


TAKEN_FOR_TENSORS = {
    "a method that only tensors have": ("y = x.unsqueeze(0)", ["BRK101"]),
    "a function of torch": ("y = torch.abs(x)", ["BRK101"]),
    "what only tensors are asked for": ("y = x.ndim", ["BRK101"]),
    "a number of dimensions": ("y = x.dim()\n    assert x.ndim == 0", ["BRK101"]),
    "two in a row": ("y = x\n    if not (t.ndim == x.ndim == 0):\n        return t", ["BRK101"]),
    "sizes": ("y, z = x.shape", ["BRK101"]),
    "what many have": ("y = x.device", []),
    "a function of layers": ("y = torch.nn.functional.relu(x)", ["BRK101"]),
    "what takes a list as well": ("y = torch.cat(x)", []),
    "what takes a number": ("y = torch.ones(x)", []),
    "a method of anything": ("y = x.copy()", []),
}


@pytest.mark.parametrize("name", TAKEN_FOR_TENSORS)
def test_what_is_used_as_a_tensor_is_one(name, tmp_path):
    used, codes = TAKEN_FOR_TENSORS[name]
    source = (
        f"{HEAD}@torch.compile\ndef f(t: Tensor, batch):\n    x = batch.graph.nodes\n    {used}\n"
        "    if x > 0:\n        return y\n    return t\n"
    )
    assert codes_in(source, tmp_path) == codes


@pytest.mark.parametrize("annotation", ["Tensor | float", "float | Tensor"])
def test_what_is_asked_to_be_a_number_is_the_number_of_its_annotation(annotation, tmp_path):
    source = (
        f"{HEAD}def scaled(x, s: {annotation}):\n"
        "    if isinstance(s, (int, float)):\n        s = torch.tensor([float(s)])\n    return x * s\n\n\n"
        f"@torch.compile\ndef f(x: Tensor, s: {annotation}):\n    return scaled(x, s)\n"
    )
    assert codes_in(source, tmp_path) == []


GUARDED = """\
import torch


class Net(torch.nn.Module):
    def refuse(self, index, size=None):
        \"""Only with an index.\"""
        {guard}

    def forward(self, x: torch.Tensor, index: torch.Tensor | None = None):
        {call}
        if index is not None and index.max() > 3:
            raise ValueError
        return x
"""


@pytest.mark.parametrize(
    ("guard", "call", "breaks"),
    [
        ("if index is None: raise ValueError", "self.refuse(index)", True),
        ("assert index is not None", "self.refuse(size=1, index=index)", True),
        ("assert size is None\n        return index", "self.refuse(index)", False),
        ("if index is None: return", "self.refuse(index)", False),
        ("if index is None: raise ValueError", "self.refuse(*[x])", False),
        ("if index is None: raise ValueError", "self.refuse(x)", False),
    ],
)
def test_what_a_called_function_refuses_is_not_none(guard, call, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": GUARDED.format(guard=guard, call=call)})
    assert found(result) == [("BRK102", 11)] * breaks


DERIVED = """\
import torch


class Space:
    pass


class Plane(Space):
    pass


class Net(torch.nn.Module):
    def __init__(self, space: {annotation}):
        super().__init__()
        assert isinstance(space, Plane)
        self.register_buffer("bounds", torch.LongTensor([0, 3]))

    def forward(self, x):
        return x[: self.bounds[1]]
"""


@pytest.mark.parametrize(
    ("annotation", "breaks"), [("Space", True), ("Plane", True), ("Net", False)]
)
def test_an_annotated_object_may_be_of_a_class_that_derives(annotation, breaks, tmp_path):
    result = analysed(tmp_path, {"program.py": DERIVED.format(annotation=f"'{annotation}'")})
    assert found(result) == [("BRK206", 19)] * breaks


NAMED = """
import torch
from torch import nn


def soft(x, by):
    return torch.softmax(x * by, -1)


def sorted_(x, dim=-1):
    return torch.sort(x, dim=dim).values


class Chosen(nn.Module):
    KINDS = {"soft": soft, "sorted": sorted_}

    def __init__(self, kind):
        super().__init__()
        self.function = self.KINDS[kind]
        self.by = nn.Parameter(torch.ones(3))

    def forward(self, x):
        if self.function.__name__ QUESTION:
            return self.function(x, self.by[0] * 2)
        return self.function(x)
"""


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("== 'soft'", []),
        ("!= 'sorted_'", []),
        ("== 'sorted_'", [("BRK209", 11)]),
        ("!= 'soft'", [("BRK209", 11)]),
    ],
)
def test_a_function_whose_name_is_compared_is_that_one(tmp_path, question, wanted):
    source = NAMED.replace("QUESTION", question)
    assert found(analysed(tmp_path, {"chosen.py": source})) == wanted


@pytest.mark.parametrize(
    ("test", "breaks"),
    [("not wanted", []), ("self.training and not wanted", []), ("wanted", ["BRK401"])],
)
def test_a_flag_has_the_value_that_a_test_gave_it(test, breaks, tmp_path):
    source = f"""\
        import torch


        class Net(torch.nn.Module):
            def shown(self, x, wanted):
                if wanted:
                    print("shown")
                return x + 1

            def forward(self, x, wanted=False):
                if {test}:
                    run = lambda y, wanted=wanted: self.shown(y, wanted)
                    return run(x)
                return x
        """
    assert [code for code, _ in found(analysed(tmp_path, {"net.py": source}))] == breaks
