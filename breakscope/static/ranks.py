"""How many dimensions the result of a tensor operation has, where its arguments tell."""

from __future__ import annotations

from breakscope.values import Const, External, ExternalInstance, Py, Sequence, Tensor, Value

SAME_SHAPE = frozenset(
    """
    detach clone contiguous cuda cpu float long int bool half double to type_as exp log abs sqrt relu sigmoid
    tanh neg masked_fill clamp flip roll transpose softmax log_softmax round floor ceil isnan isinf isfinite eq
    ne lt le gt ge logical_not requires_grad_ zeros_like ones_like empty_like full_like rand_like randn_like
    cumsum argsort t bitwise_not
    sin cos tan asin acos atan sinh cosh asinh acosh atanh erf erfc erfinv exp2 expm1 log1p log2 log10 rsqrt
    reciprocal square sign sgn trunc frac deg2rad rad2deg digamma lgamma positive conj angle gelu silu elu selu
    celu leaky_relu relu6 hardtanh hardswish hardsigmoid softplus softsign tanhshrink softshrink hardshrink mish
    logsigmoid softmin dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout layer_norm
    batch_norm group_norm instance_norm rms_norm normalize cumprod logcumsumexp tril triu nan_to_num clip
    bernoulli gumbel_softmax scatter scatter_add scatter_reduce index_add index_copy index_fill index_put
    zero_ fill_ copy_ add_ sub_ mul_ div_ pow_ clamp_ masked_fill_ scatter_ scatter_add_ scatter_reduce_ index_add_
    index_copy_ index_fill_ index_put_ relu_ sigmoid_ tanh_ exp_ uniform_ normal_ bernoulli_ masked_scatter_
    fftshift ifftshift
    """.split()
)
SAME_RANK = frozenset(
    """
    gather take_along_dim index_select narrow linear bilinear conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d pad interpolate upsample avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d lp_pool1d lp_pool2d pixel_shuffle pixel_unshuffle glu multinomial grid_sample
    fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn permute
    """.split()
)
POINTWISE = frozenset(  # of two tensors that are broadcast against each other
    """
    add sub mul div true_divide floor_divide remainder fmod pow maximum minimum fmax fmin atan2 logical_and
    logical_or logical_xor bitwise_and bitwise_or bitwise_xor greater less greater_equal less_equal not_equal
    isclose hypot lerp
    """.split()
)
SCALAR_RESULTS = frozenset(
    """
    sum mean max min any all prod std var norm median amax amin argmax argmin logsumexp count_nonzero nansum
    nanmean
    """.split()
)
SIZED = frozenset({"view", "reshape", "expand", "repeat", "new_zeros", "new_ones", "new_full", "new_empty"})
PRODUCTS = {"mm": 2, "bmm": 3, "baddbmm": 3, "addmm": 2, "mv": 1, "dot": 0, "vdot": 0, "outer": 2, "ger": 2}
BIGGER = {"unsqueeze": 1, "unsqueeze_": 1, "select": -1, "one_hot": 1, "embedding": 1, "diag_embed": 1,
          "diagonal": -1}
LOSSES = frozenset(
    """
    cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy kl_div ctc_loss
    binary_cross_entropy_with_logits poisson_nll_loss gaussian_nll_loss cosine_embedding_loss margin_ranking_loss
    triplet_margin_loss hinge_embedding_loss soft_margin_loss multi_margin_loss
    """.split()
)
LAYERS = frozenset(  # of torch.nn, with as many dimensions behind them as before
    """
    Linear Dropout Dropout1d Dropout2d Dropout3d AlphaDropout LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d
    BatchNorm3d SyncBatchNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d ReLU ReLU6 LeakyReLU PReLU ELU CELU SELU
    GELU SiLU Mish Tanh Sigmoid LogSigmoid Hardswish Hardsigmoid Hardtanh Softplus Softsign Tanhshrink Softmax
    LogSoftmax Softmin GLU Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d MaxPool1d MaxPool2d
    MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
    AdaptiveMaxPool2d AdaptiveMaxPool3d Upsample PixelShuffle PixelUnshuffle ZeroPad1d ZeroPad2d ReflectionPad1d
    ReflectionPad2d ReplicationPad1d ReplicationPad2d ConstantPad1d ConstantPad2d TransformerEncoderLayer
    TransformerDecoderLayer TransformerEncoder TransformerDecoder
    """.split()
)


def rank_of_result(name: str, owner: Tensor, rest: list[Value], kwargs: dict[str, Value]) -> int | None:
    """The rank of what the method `name` of `owner`, or the torch function of that name, gives; `rest` are the arguments
    behind the tensor. None when it is not known."""
    if name in SCALAR_RESULTS and not rest and not kwargs.keys() - {"dtype"}:
        return 0
    if name in SCALAR_RESULTS and name != "norm" and (len(rest) < 2 or name not in ("std", "var")):
        return reduced_rank(owner, rest, kwargs)
    if name == "new_full":
        rest = rest[:1]
    if name in SIZED or name == "permute" and owner.ndim is None:
        return _rank_of_sizes(rest, kwargs)
    if name in PRODUCTS:
        return PRODUCTS[name] if owner.kind != "numpy" else None  # numpy.dot multiplies matrices too
    if name in LOSSES:
        return _rank_of_loss(kwargs)
    if name == "flatten":
        return _flattened(owner, rest, kwargs)
    if owner.ndim is None:
        return None
    if name in SAME_SHAPE or name in SAME_RANK:
        return owner.ndim
    if name in BIGGER:
        return owner.ndim + BIGGER[name]
    if name in POINTWISE and rest:
        ranks = [_broadcast_rank(value) for value in rest]
        return None if None in ranks else max(owner.ndim, *ranks)
    if name == "matmul" and len(rest) == 1 and getattr(rest[0], "ndim", None) is not None:
        return product_rank(owner.ndim, rest[0].ndim)
    return None


def rank_behind_layer(layer: ExternalInstance, rank: int | None) -> int | None:
    """The rank of what a layer of torch.nn makes of a tensor of this one."""
    name = layer.name.rpartition(".")[2]
    if name.endswith("Loss"):
        return _rank_of_loss(dict(layer.kwargs)) if name != "AdaptiveLogSoftmaxWithLoss" else None
    if name == "Flatten" and not (layer.args or layer.kwargs):
        return 2
    if rank is None:
        return None
    return rank + 1 if name == "Embedding" else rank if name in LAYERS else None


def product_rank(left: int, right: int) -> int:
    """Of `left @ right`, by their ranks."""
    if left == 1 or right == 1:
        return max(left + right - 2, 0)
    return max(left, right)


def joined_rank(name: str, element: Value) -> int | None:
    """Of what `cat` or `stack` makes of tensors like `element`."""
    rank = getattr(element, "ndim", None)
    return None if rank is None or name not in ("cat", "concat", "stack") else rank + (name == "stack")


def reduced_rank(owner: Tensor, args: list[Value], kwargs: dict[str, Value]) -> int | None:
    """The rank of what a reduction over the first of `args`, or over `dim`, leaves."""
    over = args[0] if args else kwargs.get("dim") or kwargs.get("axis")
    keep = args[1] if len(args) > 1 else kwargs.get("keepdim") or kwargs.get("keepdims")
    if owner.ndim is None or not (keep is None or keep.is_const) or len(args) > 2:
        return None
    if keep is not None and keep.value is True:
        return owner.ndim
    if type(over) is Sequence and over.items is not None:
        return owner.ndim - len(over.items)
    return owner.ndim - 1 if type(over) is Const and type(over.value) is int and owner.ndim else None


def _rank_of_sizes(rest: list[Value], kwargs: dict[str, Value]) -> int | None:
    if len(rest) == 1 and isinstance(rest[0], Sequence):
        return len(rest[0].items) if rest[0].items is not None else None
    if not rest or kwargs.get("*") or any(isinstance(value, Sequence | External) for value in rest):
        return None
    return len(rest)


def _rank_of_loss(kwargs: dict[str, Value]) -> int | None:
    reduction = kwargs.get("reduction", Const("mean"))
    return 0 if reduction.is_const and reduction.value in ("mean", "sum") else None


def _flattened(owner: Tensor, rest: list[Value], kwargs: dict[str, Value]) -> int | None:
    """Of `x.flatten(start, end)`: one dimension in the place of several."""
    given = [*rest, *([Const(0)] if not rest else [])][:2]
    start = kwargs.get("start_dim", given[0])
    end = kwargs.get("end_dim", given[1] if len(given) > 1 else Const(-1))
    if not (type(start) is Const and type(end) is Const and type(start.value) is int and type(end.value) is int):
        return None
    if start.value >= 0 and end.value == -1:
        return start.value + 1
    if owner.ndim is None:
        return None
    first, last = (at + owner.ndim if at < 0 else at for at in (start.value, end.value))
    return owner.ndim - (last - first) if 0 <= first <= last < owner.ndim else None


def _broadcast_rank(value: Value) -> int | None:
    """Of an operand; a Python number has none."""
    if isinstance(value, Tensor):
        return value.ndim
    return 0 if value.is_const or value.is_shape or isinstance(value, Py) else None
