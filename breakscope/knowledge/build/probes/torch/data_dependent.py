"""Operators and indexing whose result or its shape may depend on data."""
# ruff: noqa

import torch
import torch.nn.functional as F
import torch.sparse

flag_true = True


def cases_dynamic(x, y, v, t, i, m, mb, ts, sparse, n):
    torch.nonzero(x)
    torch.nonzero(x, as_tuple=True)
    torch.argwhere(x)
    torch.where(m)
    torch.where(m, x, y)
    torch.where(m, x, 0.0)
    torch.masked_select(x, m)
    torch.masked_scatter(x, m, y)
    torch.unique(i)
    torch.unique(i, return_inverse=True)
    torch.unique(i, return_counts=True)
    torch.unique(x, dim=0)
    torch.unique_consecutive(i)
    torch.bincount(i)
    torch.bincount(i, minlength=5)
    torch.repeat_interleave(x, 2)
    torch.repeat_interleave(x, 2, dim=0)
    torch.repeat_interleave(x, i, dim=0)
    torch.repeat_interleave(x, i, dim=0, output_size=6)
    torch.repeat_interleave(i)
    torch.histc(x)
    torch.histogram(x, 4)
    torch.allclose(x, y)
    torch.equal(x, y)
    torch.isin(i, i)
    torch.bucketize(x, v)
    torch.searchsorted(v, x)
    torch.tensor_split(x, 2)
    torch.tensor_split(x, torch.tensor([1]))
    torch.split(x, 2)
    torch.split(x, [1, 3])
    torch.split(x, i.tolist())  # raises
    torch.take(x, i)
    torch.index_select(x, 0, i)
    torch.gather(x, 0, i[:3][None])
    torch.scatter(x, 0, i[:3][None], y[:1])
    torch.segment_reduce(x, "max", lengths=torch.tensor([2, 2]))
    torch.one_hot  # raises; as: torch.one_hot
    F.one_hot(i)
    F.one_hot(i, 5)
    F.one_hot(i, num_classes=5)
    F.pad(x, (1, 1))
    F.dropout(x)
    F.interpolate(x[None], scale_factor=2)
    F.interpolate(x[None], size=5)
    F.embedding(i, x)
    F.embedding(i, x, max_norm=1.0)
    F.embedding_bag(i[None], x)
    F.embedding_bag(i, x, torch.tensor([0, 2]))
    F.cross_entropy(x, i.clamp(max=2))
    F.ctc_loss(x[:, None].log_softmax(-1), i[None, :2].clamp(min=1, max=2), (4,), (2,))
    F.ctc_loss(
        x[:, None].log_softmax(-1),
        i[None, :2].clamp(min=1, max=2),
        torch.tensor([4]),
        torch.tensor([2]),
    )
    F.gumbel_softmax(x)
    F.multi_head_attention_forward  # as: F.multi_head_attention_forward
    F.scaled_dot_product_attention(x[None], x[None], x[None])
    F.grid_sample(x[None, None], torch.zeros(1, 2, 2, 2))
    F.affine_grid(torch.zeros(1, 2, 3), (1, 1, 2, 2))
    F.max_pool2d(x[None, None], 2)
    F.max_pool2d(x[None, None], 2, return_indices=True)
    F.fractional_max_pool2d(x[None, None], 2, output_size=2)
    F.unfold(x[None, None], 2)
    F.normalize(x)
    F.gaussian_nll_loss(x, y, y)
    F.gaussian_nll_loss(x, y, 1.0)
    F.poisson_nll_loss(x, y)
    F.kl_div(x, y)
    F.binary_cross_entropy(x.clamp(0, 1), y.clamp(0, 1))
    F.cosine_similarity(x, y)
    F.pairwise_distance(x, y)
    F.triplet_margin_loss(x, y, y)
    F.multi_margin_loss(x, i.clamp(max=2))
    F.hardtanh(x, -1.0, 1.0)
    F.layer_norm(x, (3,))
    F.batch_norm(x, torch.zeros(3), torch.ones(3))
    F.batch_norm(x, torch.zeros(3), torch.ones(3), training=True)
    F.instance_norm(x[None])
    F.group_norm(x[None], 2)
    F.rms_norm(x, (3,))
    F.linear(x, y)
    F.grouped_mm  # as: F.grouped_mm
    x[m]  # as: index by bool mask
    x[mb]  # as: index rows by bool mask
    x[i]  # as: index by int tensor
    x[t.long()]  # as: index by 0d int tensor
    x[i, 0]  # as: index by int tensor and int
    x[m] = 0.0  # as: store constant by bool mask
    x[m] = t  # as: store 0d tensor by bool mask
    x[mb] = y[:3]  # as: store tensor by bool mask of rows
    x[m] = y[m]  # as: store masked tensor by bool mask
    x[m] += 1  # as: augmented store by bool mask
    x[m] *= 2  # as: augmented store by bool mask
    x[i] += 1  # as: augmented store by int tensor
    x[i] = 0.0  # as: store constant by int tensor
    x[None, ..., ::2]  # as: index by slices
    x[: t.long()]  # as: slice bound 0d int tensor
    x[: i.max()]  # as: slice bound 0d int tensor
    x[:n]  # as: slice bound int
    x[: x.shape[0] // 2]  # as: slice bound size
    ts[t.long() - 1]  # as: list indexed by tensor
    (1, 2, 3)[t.long()]  # as: tuple indexed by tensor
    {1: 2}[t.long()]  # raises; as: dict indexed by tensor
    torch.ops.aten.nonzero(x)  # as: torch.ops.aten.nonzero
    torch.ops.aten.add(x, y)  # as: torch.ops.aten.add
    torch.sparse.mm(sparse, x.T)
    torch.sparse.sum(sparse)
    torch.smm(sparse, x.T)
    torch._assert(flag_true, "a")
    torch._assert(x.sum() > 0, "a")
    torch._assert_async(x.sum() > 0)
    torch._check(True)
    torch._check(n > 0)
    torch._check_is_size(n)
    torch._check_value(True)
    torch.sym_int(n)
    torch.sym_max(n, 2)
    torch.sym_min(n, 2)
    torch.sym_not(True)
    torch.sym_float(n)
    torch._dim_arange(x, 0)
    torch._foreach_add(ts, 1)
    torch._foreach_mul_(ts, 2)
    torch._foreach_norm(ts)
