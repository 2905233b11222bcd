"""Methods and attributes of tensors that are more than operators."""
# ruff: noqa

import torch


def cases_reads(x, t, k, flag, v, i, m, a):
    t.item()
    k.item()
    flag.item()
    x.sum().item()
    x.tolist()
    t.tolist()
    i.tolist()
    x.shape.numel()
    x.numpy()
    x.detach().cpu().numpy()
    x.numpy(force=True)
    x.__array__()
    x.__bool__()  # raises
    t.__bool__()
    t.__int__()
    t.__float__()
    k.__index__()
    x.__len__()
    x.__contains__(t)
    t in x  # as: in tensor
    1.0 in x  # as: number in tensor
    x.__repr__()
    x.__str__()
    x.__hash__()
    x.__iter__()
    x.__format__("")
    t.__format__(".2f")
    x.__deepcopy__({})
    x.__reduce_ex__(2)
    x.__dlpack__()
    x.is_nonzero()  # raises
    t.is_nonzero()
    x.equal(x)
    x.allclose(x)
    x.is_same_size(x)
    x.is_set_to(x)
    x.data_ptr()
    x.storage()
    x.untyped_storage()
    x.untyped_storage().data_ptr()
    x.storage_offset()
    x.storage_type()
    x.element_size()
    x.numel()
    x.nelement()
    x.dim()
    x.ndimension()
    x.size()
    x.size(0)
    x.stride()
    x.get_device()
    x.is_contiguous()
    x.is_floating_point()
    x.is_complex()
    x.is_signed()
    x.is_inference()
    x.is_pinned()
    x.is_shared()
    x.is_conj()
    x.is_neg()
    x.is_coalesced()  # raises
    x.sparse_dim()
    x.dense_dim()
    x.type()
    x.type(torch.float64)
    x.type("torch.DoubleTensor")
    x.type_as(x)
    x.dtype
    x.device
    x.layout
    x.shape
    x.ndim
    x.T
    x.mT
    x.H
    x.real
    x.data
    x.grad
    x.grad_fn
    x.is_leaf
    x.requires_grad
    x.is_cuda
    x.is_cpu
    x.is_sparse
    x.is_quantized
    x.is_meta
    x.is_nested
    x.name
    x.itemsize
    x.nbytes
    x.output_nr
    x._version
    x._base
    x.retains_grad
    x.volatile
    x.__dict__
    x.__class__
    x._backward_hooks
    x._grad
    x.shape[0]  # as: Tensor.shape[0]
    x.device.type  # as: Tensor.device.type
    x.device == torch.device("cpu")  # as: Tensor.device compare
    x.dtype == torch.float32  # as: Tensor.dtype compare
    x.dtype.is_floating_point  # as: torch.dtype.is_floating_point
    x.dtype.itemsize  # as: torch.dtype.itemsize
    x.dtype in (torch.float16,)  # as: in dtypes


def cases_autograd(x, w, param, leaf):
    w.sum().backward()
    (w * 2).sum().backward(retain_graph=True)
    x.requires_grad_()
    w.requires_grad_(False)
    (x * 2).requires_grad_()
    (w * 2).retain_grad()
    w.register_hook(lambda g: g)
    (w * 2).register_hook(lambda g: g)
    w.register_post_accumulate_grad_hook(lambda e: None)
    w.detach()
    w.detach_()
    (w * 2).detach_()
    x.detach()
    w.grad
    w.grad_fn
    (w * 2).grad_fn
    w.is_leaf
    x.requires_grad = True
    x.grad = None
    w.grad = None
    w.grad = torch.zeros(4, 3)
    x.data = torch.zeros(4, 3)
    x.data.add_(1)
    param.data = torch.zeros(4, 3)
    param.data.mul_(2)
    param.data.copy_(x)
    x.note = 1
    x.real = torch.zeros(4, 3)
    x.T[0] = 1.0  # as: store into view
    param.grad.zero_()  # raises


def cases_storage(x, y, v):
    x.resize_(2, 2)
    x.resize_(6, 6)
    x.resize_as_(y)
    x.set_(y)
    x.set_(y.untyped_storage())
    x.share_memory_()
    x.pin_memory()  # raises
    x.apply_(lambda e: e)
    x.map_(y, lambda a, b: a)
    x.map2_(y, y, lambda a, b, c: a)  # raises
    x.new(2)
    x.new()
    x.new([1.0])
    x.new_tensor([1.0])
    x.new_tensor(y)
    x.new_zeros(2)
    x.new_ones((2,))
    x.new_full((2,), 1.0)
    x.new_empty(2)
    x.as_subclass(torch.nn.Parameter)
    torch.Tensor.add(x, y)
    x.to("cpu")
    x.to(torch.float64)
    x.to(y)
    x.to(device="cpu", dtype=torch.float16, non_blocking=True)
    x.cpu()
    x.cuda()  # raises
    x.half()
    x.float()
    x.double()
    x.bfloat16()
    x.long()
    x.int()
    x.bool()
    x.module_load(y)
    x.clone()
    x.contiguous()
    x.copy_(y)
    x.fill_(0)
    x.fill_(x.sum())
    x.zero_()
    x.uniform_()
    x.normal_()
    x.random_()
    x.exponential_()
    x.bernoulli_()
    x.cauchy_()
    x.geometric_(0.5)
    x.log_normal_()
    x.masked_fill_(y > 1, 0)
    x.masked_fill(y > 1, x.sum())
    x.masked_scatter_(y > 1, y)
    x.index_fill_(0, idx, 0.0)
    x.index_put_((idx,), y[:2])
    x.index_put_((y > 1,), x.sum())
    x.index_add_(0, idx, y[:2])
    x.scatter_(0, idx[None].expand(3, 2).T, 1.0)
    x.put_(idx, y[0, :2])
    x.squeeze_()
    x.unsqueeze_(0)
    x.t_()
    x.transpose_(0, 1)
    x.swapaxes_(0, 1)
    x.as_strided((2,), (1,))
    x.as_strided_((2,), (1,))
    x.__setitem__(0, 1.0)
    x.__getitem__(0)
    x.__delitem__(0)  # raises


def cases_dynamic(x, y, v, t, i, m, mb):
    x.nonzero()
    x.nonzero(as_tuple=True)
    x.argwhere()
    x.masked_select(m)
    x.masked_scatter(m, y)
    x.unique()
    i.unique(return_counts=True)
    i.unique_consecutive()
    i.bincount()
    i.bincount(minlength=5)
    x.repeat_interleave(2, 0)
    x.repeat_interleave(i, 0)
    x.repeat_interleave(i, dim=0, output_size=6)
    x.histc()
    x.where(m, y)
    x.expand(2, 4, 3)
    x.repeat(2, 1)
    x.repeat(t.long(), 1)
    x.view(-1)
    x.view(t.long(), -1)
    x.reshape(t.long(), -1)
    x.expand(t.long(), 4, 3)
    x.narrow(0, 0, 2)
    x.narrow(0, t.long() - 2, 2)
    x.narrow(0, 0, t.long())
    x.select(0, 1)
    x.select(0, t.long())
    x.roll(t.long())
    x.topk(2)
    x.topk(t.long())
    x.split(2)
    x.split(i.tolist())  # raises
    x.chunk(2)
    x.unbind()
    x.tensor_split(torch.tensor([1]))
    x.tensor_split(2)
    x.roll(1)
    x.reshape(-1)
    x.reshape(2, 6)
    x.clamp(min=t)
    x.clamp(t, 3.0)
    x.to_sparse()
    x.to_sparse_csr()
    x.to_dense()
    x.to_mkldnn()
    x.to_padded_tensor  # raises; as: Tensor.to_padded_tensor
    x.multinomial(1)
    x.max()
    x.max(0)
    x.median()
    x.mode()
    x.kthvalue(2)
    x.cummax(0)
    x.sort()
    x.argsort()
    x.std_mean  # raises; as: Tensor.std_mean
    x.norm()
    x.inverse  # as: Tensor.inverse
    x.qr()
    x.svd()
    x.lu()
    x.geqrf()
    x.stft(4, return_complex=True)  # raises
    x.unfold(0, 2, 1)
    x.unflatten(0, (2, 2))
    x.diag_embed()
    x.sum_to_size(1, 3)
    x.backward  # as: Tensor.backward read
    x @ y.T  # as: matmul
    x == y  # as: compare
    x == None  # as: compare with None
    x is None  # as: is None
    x != 0  # as: compare with number
    not m.any()  # as: not tensor
    m.any() and True  # as: tensor and
    m.any() or True  # as: tensor or
    1 if m.any() else 2  # as: ternary on tensor
    t if t is not None else x  # as: ternary on is None
    0 < t < 1  # as: chained comparison of tensor
    x += 1  # as: augmented assignment
    x //= 2  # as: augmented assignment
    -x  # as: negation
    ~m  # as: invert
    m & m  # as: and
    x**t  # as: power by tensor
    2**t  # as: power of number by tensor
    2 ** t.item()  # as: power of number by item


def cases_sparse(x, sparse, sq):
    sparse.coalesce()  # as: sparse Tensor.coalesce
    sparse.is_coalesced()  # as: sparse Tensor.is_coalesced
    sparse.indices()  # as: sparse Tensor.indices; raises
    sparse._indices()  # as: sparse Tensor._indices
    sparse._values()  # as: sparse Tensor._values
    sparse._nnz()  # as: sparse Tensor._nnz
    sparse.to_dense()  # as: sparse Tensor.to_dense
    sparse @ sq  # as: sparse matmul
    sparse.is_sparse  # as: sparse Tensor.is_sparse
    sparse.sum()  # as: sparse Tensor.sum
    sparse.t()  # as: sparse Tensor.t
    sparse + sparse  # as: sparse add
    sq.to_sparse() @ sq  # as: to_sparse then matmul
    sparse * 2  # as: sparse times number


idx = torch.tensor([0, 1])
