"""Names of methods that make what they are called on a tensor, where nothing else is known of it."""

from __future__ import annotations

from breakscope.rulekit.values import Tensor, Value

TENSOR_ONLY = frozenset(
    """
    unsqueeze masked_fill masked_fill_ permute expand expand_as view_as contiguous detach index_select gather
    scatter scatter_ scatter_add scatter_add_ long argmax topk cumsum new_zeros new_ones new_full new_tensor
    new_empty as_subclass nonzero masked_select repeat_interleave unbind item isnan softmax log_softmax sigmoid
    requires_grad_ chunk dim any all transpose type_as byte bool argsort squeeze flatten norm numel matmul bmm numpy
    cpu clamp clamp_ clamp_min clamp_max index_add index_add_ index_copy_ index_fill index_fill_ isfinite isinf
    logical_and logical_or logical_not rsqrt tril triu copy_ zero_ fill_ add_ sub_ mul_ div_ nan_to_num sum mean std
    var prod abs exp log sqrt square round_ is_contiguous data_ptr element_size cumprod diag_embed unsqueeze_
    squeeze_ bernoulli_ normal_ uniform_ grad_fn
    """.split()
)

# what nothing but the name of a method shows to be a tensor: anything, and what was handed over
BY_METHOD = Tensor(sure=False)
ARGUMENT_BY_METHOD = Tensor(sure=False, origin="argument")
# methods that take no tensor, whose names are usual for layers too
NAMES_OF_LAYERS = frozenset("norm softmax log_softmax sigmoid flatten dim mean sum exp log".split())


def is_layer(owner: Tensor, name: str, args: list[Value]) -> bool:
    """True for the call of a layer, `decoder.norm(x)`, that looked like a method."""
    is_by_method = owner is BY_METHOD or owner is ARGUMENT_BY_METHOD
    return is_by_method and name in NAMES_OF_LAYERS and bool(args) and args[0].is_tensor
