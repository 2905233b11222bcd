"""The sizes of what an operation makes of a tensor of known sizes, by its name: a rule for each, which may do
with them what torch does. What is not known, or what torch would refuse, ends a rule in an error."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from breakscope.rulekit.values import Const, Sequence, Tensor, Value, int_of

Given = dict[str, Value]
Sizes = tuple
LOSSES = (
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "soft_margin_loss"),
    *("binary_cross_entropy", "binary_cross_entropy_with_logits", "poisson_nll_loss"),
)


def sizes_by_name(
    name: str, owner: Tensor, args: list[Value], kwargs: dict[str, Value]
) -> Sizes | None:
    """The sizes of `owner.name(*args)`, and of a function of that name that is given `owner` first."""
    words, rule = RULES.get(name, ("", None))
    if rule is None or owner.shape is None:
        return None
    if words.startswith("*"):
        is_one = len(args) == 1 and isinstance(args[0], Sequence)
        given = (
            {words[1:]: args[0] if is_one else Sequence("tuple", args)} if args else {}
        ) | kwargs
    else:
        given = dict(zip(words.split(), args)) | kwargs
    try:
        return tuple(rule(owner.shape, given))
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return None


def einsum_sizes(args: list[Value]) -> Sizes | None:
    """The sizes of `torch.einsum("ij,jk->ik", a, b)`."""
    text = args[0].value if args and isinstance(args[0], Const) else None
    shapes = [value.shape if type(value) is Tensor else None for value in args[1:]]
    if not isinstance(text, str) or "->" not in text or "." in text or None in shapes:
        return None
    inputs, _, output = text.replace(" ", "").partition("->")
    words = inputs.split(",")
    if [*map(len, words)] != [*map(len, shapes)]:
        return None
    sizes = {name: n for word, shape in zip(words, shapes) for name, n in zip(word, shape)}
    return tuple(sizes.get(name) for name in output)


def number(given: Given, word: str, default: int | None = None) -> int:
    value = given.get(word)
    if value is None or value.is_none:
        value = Const(default)
    number = int_of(value)
    if number is None:
        raise ValueError(word)
    return number


def numbers(given: Given, word: str) -> list[int]:
    value = given.get(word)
    parts = value.items if isinstance(value, Sequence) else [value]
    return [number({word: part}, word) for part in parts or [None]]


def place(shape: Sizes, at: int, more: int = 0) -> int:
    """A dimension, counted from the front."""
    length = len(shape) + more
    if not -length <= at < length:
        raise ValueError(at)
    return at % length


def shape_of(given: Given, word: str) -> Sizes:
    value = given.get(word)
    if type(value) is not Tensor or value.shape is None:
        raise ValueError(word)
    return value.shape


def product(sizes: Sizes) -> object:
    """How many numbers there are; what varies goes on varying."""
    varying = [size for size in sizes if type(size) is not int]
    if len(varying) > 1 or None in varying:
        raise ValueError(sizes)
    return varying[0] if varying else prod(sizes)


def broadcast_sizes(left: Sizes, right: Sizes) -> Sizes:
    length = max(len(left), len(right))
    padded = [(1,) * (length - len(shape)) + shape for shape in (left, right)]
    return tuple(b if a == 1 or a == b else a if b == 1 else None for a, b in zip(*padded))


def replaced(shape: Sizes, at: int, *sizes: object) -> Sizes:
    """With other sizes in the place of one."""
    return (*shape[:at], *sizes, *shape[at + 1 :])


def matrix_product(left: Sizes, right: Sizes) -> Sizes:
    if not left or not right:
        raise ValueError(left)
    if len(right) == 1:
        return left[:-1]
    if len(left) == 1:
        return (*right[:-2], right[-1])
    return (*broadcast_sizes(left[:-2], right[:-2]), left[-2], right[-1])


def _flatten(shape: Sizes, given: Given) -> Sizes:
    first = place(shape, number(given, "start_dim", 0))
    last = place(shape, number(given, "end_dim", -1))
    return (*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :])


def _moved(shape: Sizes, given: Given) -> Sizes:
    sources, targets = (
        [place(shape, at) for at in numbers(given, word)] for word in ("source", "destination")
    )
    rest = [at for at in range(len(shape)) if at not in sources]
    for target, source in sorted(zip(targets, sources)):
        rest.insert(target, source)
    return tuple(shape[at] for at in rest)


def _swapped(shape: Sizes, given: Given) -> Sizes:
    first, second = (place(shape, at) for at in numbers(given, "dims"))
    sizes = list(shape)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    return tuple(sizes)


def _turned(shape: Sizes, given: Given) -> Sizes:
    dims = given.get("dims", Sequence("tuple", [Const(0), Const(1)]))
    return _swapped(shape, {"dims": dims}) if number(given, "k", 1) % 2 else shape


def _expanded(shape: Sizes, given: Given) -> Sizes:
    wanted = numbers(given, "sizes")
    known = (None,) * (len(wanted) - len(shape)) + shape
    sizes = tuple(before if size == -1 else size for size, before in zip(wanted, known))
    if None in sizes[: len(wanted) - len(shape)]:
        raise ValueError(wanted)
    return sizes


def _squeezed(shape: Sizes, given: Given) -> Sizes:
    if "dim" in given:
        at = place(shape, number(given, "dim"))
        return replaced(shape, at) if shape[at] == 1 else shape
    if None in shape:
        raise ValueError(shape)
    return tuple(size for size in shape if size != 1)


def _unflattened(shape: Sizes, given: Given) -> Sizes:
    at, sizes = place(shape, number(given, "dim")), numbers(given, "sizes")
    rest = prod(size for size in sizes if size != -1)
    return replaced(shape, at, *(shape[at] // rest if size == -1 else size for size in sizes))


def _windows(shape: Sizes, given: Given) -> Sizes:
    at = place(shape, number(given, "dimension"))
    size, step = number(given, "size"), number(given, "step")
    return (*replaced(shape, at, (shape[at] - size) // step + 1), size)


def _repeated(shape: Sizes, given: Given) -> Sizes:
    times = numbers(given, "dims")
    padded = (1,) * (len(times) - len(shape)) + shape
    times = [1] * (len(padded) - len(times)) + times
    return tuple(size * by for size, by in zip(padded, times))


def _repeated_each(shape: Sizes, given: Given) -> Sizes:
    times = number(given, "repeats")
    if "dim" not in given:
        return (product(shape) * times,)
    at = place(shape, number(given, "dim"))
    return replaced(shape, at, shape[at] * times)


def _at_positions(shape: Sizes, given: Given) -> Sizes:
    return replaced(shape, place(shape, number(given, "dim")), *shape_of(given, "index"))


def _along(shape: Sizes, given: Given) -> Sizes:
    positions = shape_of(given, "indices")
    return positions if "dim" in given else (product(positions),)


def _one_hot(shape: Sizes, given: Given) -> Sizes:
    count = number(given, "num_classes")
    if count < 1:  # then the largest value decides
        raise ValueError(count)
    return (*shape, count)


def _narrowed(shape: Sizes, given: Given) -> Sizes:
    return replaced(shape, place(shape, number(given, "dim")), number(given, "length"))


def _differences(shape: Sizes, given: Given) -> Sizes:
    at = place(shape, number(given, "dim", -1))
    more = sum(shape_of(given, word)[at] for word in ("prepend", "append") if word in given)
    return replaced(shape, at, max(shape[at] + more - number(given, "n", 1), 0))


def _diagonal(shape: Sizes, given: Given) -> Sizes:
    by = abs(number(given, "diagonal", 0))
    return (shape[0] + by, shape[0] + by) if len(shape) == 1 else (min(shape) - by,)


def _without(shape: Sizes, given: Given) -> Sizes:
    return replaced(shape, place(shape, number(given, "dim", 1)))


def _loss(shape: Sizes, given: Given) -> Sizes:
    how = given.get("reduction", Const("mean"))
    if how == Const("none"):
        return broadcast_sizes(shape, shape_of(given, "target"))
    return ()


def _loss_of_classes(shape: Sizes, given: Given) -> Sizes:
    is_each = given.get("reduction", Const("mean")) == Const("none")
    return replaced(shape, 1 if len(shape) > 1 else 0) if is_each else ()


def _transformed(shape: Sizes, given: Given) -> Sizes:
    at = place(shape, number(given, "dim", -1))
    return replaced(shape, at, number(given, "n", shape[at]))


def _spectrum(shape: Sizes, given: Given) -> Sizes:
    at = place(shape, number(given, "dim", -1))
    return replaced(shape, at, number(given, "n", shape[at]) // 2 + 1)


def _spectrogram(shape: Sizes, given: Given) -> Sizes:
    size = number(given, "n_fft")
    step = number(given, "hop_length", size // 4)
    length = shape[-1] if given.get("center", Const(True)) == Const(True) else shape[-1] - size
    return (*shape[:-1], size // 2 + 1, length // step + 1)


def _blocks(shape: Sizes, given: Given) -> Sizes:
    """Of torch.nn.functional.unfold, which torch calls im2col inside."""
    defaults = {"kernel_size": None, "dilation": Const(1), "padding": Const(0), "stride": Const(1)}
    pairs = [numbers({word: given.get(word, default)}, word) for word, default in defaults.items()]
    window = [pair * 2 if len(pair) == 1 else pair for pair in pairs]
    count = 1
    for whole, kernel, gap, pad, step in zip(shape[-2:], *window, strict=True):
        count *= (whole + 2 * pad - gap * (kernel - 1) - 1) // step + 1
    return (*shape[:-3], shape[-3] * prod(window[0]), count)


def _shuffled(shape: Sizes, given: Given) -> Sizes:
    by = number(given, "upscale_factor")
    return (*shape[:-3], shape[-3] // by**2, shape[-2] * by, shape[-1] * by)


RULES: dict[str, tuple[str, Callable[[Sizes, Given], Sizes]]] = {
    "flatten": ("start_dim end_dim", _flatten),
    "permute": ("*dims", lambda s, g: [s[place(s, at)] for at in numbers(g, "dims")]),
    "t": ("", lambda s, g: s[::-1]),
    **dict.fromkeys(("movedim", "moveaxis"), ("source destination", _moved)),
    **dict.fromkeys(("swapaxes", "swapdims"), ("*dims", _swapped)),
    "rot90": ("k dims", _turned),
    "expand": ("*sizes", _expanded),
    "broadcast_to": ("*sizes", _expanded),
    "squeeze": ("dim", _squeezed),
    "unflatten": ("dim sizes", _unflattened),
    "im2col": ("kernel_size dilation padding stride", _blocks),
    "unfold": ("dimension size step", _windows),
    **dict.fromkeys(("repeat", "tile"), ("*dims", _repeated)),
    "repeat_interleave": ("repeats dim", _repeated_each),
    "index_select": ("dim index", _at_positions),
    "narrow": ("dim start length", _narrowed),
    "select": ("dim index", _without),
    "take_along_dim": ("indices dim", _along),
    "diff": ("n dim prepend append", _differences),
    "searchsorted": ("values", lambda s, g: shape_of(g, "values")),
    "bucketize": ("", lambda s, g: s),
    "diag": ("diagonal", _diagonal),
    **dict.fromkeys(("outer", "ger"), ("vec2", lambda s, g: (s[0], shape_of(g, "vec2")[0]))),
    **dict.fromkeys(
        ("bmm", "matmul", "mm", "mv", "dot"),
        ("other", lambda s, g: matrix_product(s, shape_of(g, "other"))),
    ),
    **dict.fromkeys(
        ("addmm", "baddbmm", "addmv"),
        ("one two", lambda s, g: matrix_product(shape_of(g, "one"), shape_of(g, "two"))),
    ),
    "linear": ("weight", lambda s, g: (*s[:-1], *shape_of(g, "weight")[:-1])),
    "embedding": ("weight", lambda s, g: (*s, shape_of(g, "weight")[1])),
    "cdist": ("x2", lambda s, g: (*s[:-1], shape_of(g, "x2")[-2])),
    "kron": ("other", lambda s, g: [a * b for a, b in zip(s, shape_of(g, "other"), strict=True)]),
    "one_hot": ("num_classes", _one_hot),
    **dict.fromkeys(
        ("new_zeros", "new_ones", "new_empty"), ("*size", lambda s, g: numbers(g, "size"))
    ),
    "new_full": ("size", lambda s, g: numbers(g, "size")),
    "bernoulli": ("", lambda s, g: s),
    **dict.fromkeys(
        ("expand_as", "view_as", "reshape_as"), ("other", lambda s, g: shape_of(g, "other"))
    ),
    "complex": ("imag", lambda s, g: broadcast_sizes(s, shape_of(g, "imag"))),
    "view_as_real": ("", lambda s, g: (*s, 2)),
    "view_as_complex": ("", lambda s, g: s[:-1]),
    "cov": ("", lambda s, g: (s[0], s[0]) if len(s) == 2 else ()),
    "cosine_similarity": (
        "x2 dim",
        lambda s, g: _without(broadcast_sizes(s, shape_of(g, "x2")), g),
    ),
    "pairwise_distance": ("x2", lambda s, g: broadcast_sizes(s, shape_of(g, "x2"))[:-1]),
    **dict.fromkeys(LOSSES, ("target", _loss)),
    **dict.fromkeys(("cross_entropy", "nll_loss"), ("target", _loss_of_classes)),
    **dict.fromkeys(("fft", "ifft"), ("n dim", _transformed)),
    "rfft": ("n dim", _spectrum),
    "stft": ("n_fft hop_length", _spectrogram),
    "pixel_shuffle": ("upscale_factor", _shuffled),
    "scaled_dot_product_attention": (
        "key value",
        lambda s, g: (*s[:-1], shape_of(g, "value")[-1]),
    ),
    "histc": ("bins", lambda s, g: (number(g, "bins", 100),)),
}
