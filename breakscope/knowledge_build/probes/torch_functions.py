"""Functions of torch that are no plain operators: state, randomness, devices, autograd, saving, utilities."""
# ruff: noqa

import torch
import torch._dynamo
import torch.amp
import torch.autograd
import torch.autograd.forward_ad
import torch.autograd.functional
import torch.backends.cuda
import torch.backends.cudnn
import torch.compiler
import torch.cuda
import torch.cuda.nvtx
import torch.distributed
import torch.distributions
import torch.func
import torch.jit
import torch.library
import torch.linalg
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init
import torch.nn.utils
import torch.nn.utils.rnn
import torch.overrides
import torch.profiler
import torch.random
import torch.sparse
import torch.special
import torch.testing
import torch.utils.checkpoint
import torch.utils.data
import torch.utils.dlpack
import torch.utils._pytree

linear = nn.Linear(3, 3)
generator = torch.Generator()
rng_state = torch.get_rng_state()
normal = torch.distributions.Normal(0.0, 1.0)
categorical = torch.distributions.Categorical(torch.ones(3))
scripted = torch.jit.script(nn.ReLU())
compiled_inside = torch.compile(lambda e: e + 1, backend="eager")
dataset = torch.utils.data.TensorDataset(torch.zeros(4, 3))
loader = torch.utils.data.DataLoader(dataset, batch_size=2)
weights = torch.tensor([0.2, 0.8])


@torch.compiler.disable
def disabled(a):
    return a + 1


@torch._dynamo.disable
def disabled_too(a):
    return a + 1


@torch._dynamo.disable(recursive=False)
def disabled_shallow(a):
    return a + 1


@torch.compiler.allow_in_graph
def allowed(a):
    return a + 1


@torch.no_grad()
def without_grad(a):
    return a + 1


@torch.inference_mode()
def under_inference(a):
    return a + 1


@torch.library.custom_op("probe::double", mutates_args=())
def custom(a: torch.Tensor) -> torch.Tensor:
    return a * 2


@custom.register_fake
def _(a):
    return torch.empty_like(a)


@torch.library.custom_op("probe::plain", mutates_args=())
def custom_without_fake(a: torch.Tensor) -> torch.Tensor:
    return a * 2


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        return 2 * a * grad


class SquareWithSetup(torch.autograd.Function):
    @staticmethod
    def forward(a):
        return a * a

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx, grad):
        (a,) = ctx.saved_tensors
        return 2 * a * grad


class Itemizing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.scale = a.sum().item()
        return a * ctx.scale

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.scale


class Marked(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_non_differentiable(a)
        return a.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Dirty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        a.add_(1)
        ctx.mark_dirty(a)
        return a

    @staticmethod
    def backward(ctx, grad):
        return grad


def square(a):
    return (a * a).sum()


def cases_state(x):
    torch.manual_seed(0)
    torch.seed()
    torch.initial_seed()
    torch.get_rng_state()
    torch.set_rng_state(rng_state)
    torch.random.manual_seed(0)
    torch.random.get_rng_state()
    torch.random.initial_seed()
    torch.random.fork_rng()
    torch.Generator()
    torch.default_generator  # as: torch.default_generator
    generator.manual_seed(0)
    generator.seed()
    generator.get_state()
    generator.initial_seed()
    torch.set_default_dtype(torch.float32)
    torch.get_default_dtype()
    torch.set_default_device("cpu")
    torch.get_default_device()
    torch.set_default_tensor_type(torch.FloatTensor)
    torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    torch.is_inference_mode_enabled()
    torch.is_autocast_enabled()
    torch.is_autocast_enabled("cpu")
    torch.is_autocast_cache_enabled()
    torch.get_autocast_dtype("cpu")
    torch.get_autocast_gpu_dtype()
    torch.set_autocast_enabled("cpu", False)
    torch.clear_autocast_cache()
    torch.is_anomaly_enabled()
    torch.is_deterministic_algorithms_warn_only_enabled()
    torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(False)
    torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode(0)
    torch.get_num_threads()
    torch.set_num_threads(1)
    torch.get_num_interop_threads()
    torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    torch.set_printoptions(precision=4)
    torch.set_flush_denormal(False)
    torch.set_warn_always(False)
    torch.is_warn_always_enabled()
    torch.__version__  # as: torch.__version__
    torch.__version__ >= "2"  # as: torch.__version__ compare
    torch.version.cuda  # as: torch.version.cuda
    torch.__config__.show()
    torch.autograd.set_detect_anomaly(False)
    torch.autograd.set_grad_enabled(True)
    torch.autograd.grad_mode.set_grad_enabled(True)
    torch.autograd.detect_anomaly()


def cases_types(x, y, t, n, m, i, ts):
    torch.is_tensor(x)
    torch.is_floating_point(x)
    torch.is_complex(x)
    torch.is_nonzero(t)
    torch.is_storage(x)
    torch.is_same_size(x, y)
    torch.numel(x)
    torch.finfo(torch.float32)
    torch.finfo(torch.float32).max  # as: torch.finfo.max
    torch.finfo(x.dtype).min  # as: torch.finfo.min
    torch.finfo(x.dtype).eps  # as: torch.finfo.eps
    torch.iinfo(torch.int32)
    torch.iinfo(torch.int32).max  # as: torch.iinfo.max
    torch.device("cpu")
    torch.device("cuda", 0)
    torch.Size([1, 2])
    torch.Size([1, 2]).numel()
    torch.dtype  # as: torch.dtype
    torch.typename(x)
    torch.promote_types(torch.float32, torch.int64)
    torch.result_type(x, i)
    torch.can_cast(torch.float32, torch.int64)
    torch.broadcast_shapes((1, 2), (2, 1))
    torch.broadcast_tensors(x, y)
    torch.get_device(x)
    torch.Tensor([1.0, 2.0])
    torch.Tensor(2, 3)
    torch.FloatTensor([1.0])
    torch.FloatTensor(2)
    torch.LongTensor([1])
    torch.BoolTensor([True])
    torch.tensor(1.0)
    torch.tensor([1.0, 2.0])
    torch.tensor(x)
    torch.tensor(t)
    torch.tensor(n)
    torch.tensor(ts[0])
    torch.tensor([t, t])
    torch.tensor([t, 1.0])
    torch.tensor(x.shape)
    torch.as_tensor(x)
    torch.as_tensor([1, 2])
    torch.as_tensor([t, t])
    torch.asarray(x)
    torch.asarray([1.0])
    torch.from_numpy(x.numpy())
    torch.frombuffer(bytearray(8), dtype=torch.float32)
    torch.zeros(n)
    torch.zeros(x.shape)
    torch.zeros(2, 3, dtype=torch.int64)
    torch.zeros(int(3))
    torch.zeros(t.long())
    torch.ones(i.max())
    torch.full((2,), t)
    torch.full((2,), t.item())
    torch.arange(n)
    torch.arange(t)
    torch.arange(i.max())
    torch.linspace(0, 1, 3)
    torch.linspace(t, 1, 3)
    torch.logspace(0, 1, 3)
    torch.eye(n)
    torch.empty(3)
    torch.empty_like(x)
    torch.rand(3)
    torch.rand(3, generator=generator)
    torch.randn(x.shape)
    torch.randn(3, generator=generator)
    torch.randint(0, 3, (2,))
    torch.randint(0, 3, (2,), generator=generator)
    torch.randperm(4)
    torch.randperm(4, generator=generator)
    torch.normal(0.0, 1.0, (2,))
    torch.normal(x, y)
    torch.bernoulli(x.clamp(0, 1))
    torch.multinomial(weights, 1)
    torch.multinomial(weights, 1, generator=generator)
    torch.poisson(x)
    torch.sparse_coo_tensor(i[None], x[:, 0], (4,))
    torch.sparse_csr_tensor(i, i, x[:, 0])  # raises
    torch.complex(x, y)
    torch.polar(x, y)
    torch.nested.nested_tensor(ts)
    torch.nested.as_nested_tensor(ts)
    torch.nested.nested_tensor(ts, layout=torch.jagged)
    torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
    torch.meshgrid(i, i, indexing="ij")
    torch.cartesian_prod(i, i)
    torch.combinations(i)
    torch.block_diag(x, y)
    torch.einsum("ij,ij->i", x, y)
    torch.tensordot(x, y.T, dims=1)
    torch.atleast_2d(x)
    torch.unravel_index(i, (4, 3))
    torch.vander(i)
    torch.stack(ts)
    torch.cat(ts)
    torch.lobpcg(x.T @ x, k=1)
    torch.pca_lowrank(x)
    torch.svd_lowrank(x)
    torch.stft(x.flatten(), 4, return_complex=True)
    torch.istft(torch.stft(x.flatten(), 4, return_complex=True, window=torch.ones(4)), 4, window=torch.ones(4))
    torch.hann_window(4)
    torch.vmap(square)(x)  # as: torch.vmap called
    torch.vmap(square)


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
    F.ctc_loss(x[:, None].log_softmax(-1), i[None, :2].clamp(min=1, max=2), torch.tensor([4]), torch.tensor([2]))
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
    x[: n]  # as: slice bound int
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


def cases_cuda(x):
    torch.cuda.is_available()
    torch.cuda.device_count()
    torch.cuda.synchronize()  # raises
    torch.cuda.current_device()  # raises
    torch.cuda.current_stream()  # raises
    torch.cuda.Stream()  # raises
    torch.cuda.Event()  # raises
    torch.cuda.empty_cache()
    torch.cuda.memory_allocated()
    torch.cuda.max_memory_allocated()
    torch.cuda.memory_reserved()
    torch.cuda.reset_peak_memory_stats()  # raises
    torch.cuda.get_device_properties(0)  # raises
    torch.cuda.get_device_name(0)  # raises
    torch.cuda.get_device_capability(0)  # raises
    torch.cuda.is_initialized()
    torch.cuda.is_bf16_supported()
    torch.cuda.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    torch.cuda.get_rng_state()  # raises
    torch.cuda.set_device(0)  # raises
    torch.cuda.mem_get_info()  # raises
    torch.cuda.nvtx.range_push("a")  # raises
    torch.cuda.nvtx.range_pop()  # raises
    torch.cuda.nvtx.mark("a")  # raises
    torch.cuda.amp.autocast()
    torch.backends.cuda.is_built()
    torch.backends.cuda.sdp_kernel()
    torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_flash_sdp(True)
    torch.backends.cuda.matmul.allow_tf32  # as: torch.backends.cuda.matmul.allow_tf32
    torch.backends.cudnn.is_available()
    torch.backends.cudnn.version()
    torch.backends.cudnn.enabled  # as: torch.backends.cudnn.enabled
    torch.backends.cudnn.flags(enabled=False)
    torch.backends.cudnn.benchmark  # as: torch.backends.cudnn.benchmark
    torch.backends.mps.is_available()
    torch.backends.mkldnn.is_available()
    torch.backends.mkldnn.flags(enabled=False)
    torch.backends.opt_einsum.is_available()
    torch.xpu.is_available()
    torch.mps.is_available()
    torch.accelerator.is_available()
    torch.accelerator.current_accelerator()
    torch.cpu.is_available()
    torch.cpu.synchronize()
    torch.get_device_module("cpu")


def cases_autograd(x, w, leaf, param):
    torch.autograd.grad(w.sum(), w)
    torch.autograd.grad((w * w).sum(), [w], create_graph=True)
    torch.autograd.backward((w * w).sum())
    torch.autograd.functional.jacobian(square, x)
    torch.autograd.functional.hessian(square, x)
    torch.autograd.functional.vjp(square, x)
    torch.autograd.functional.jvp(square, x, x)
    torch.autograd.forward_ad.dual_level()
    torch.autograd.gradcheck(square, (w.double().detach().requires_grad_(),))
    torch.autograd.Variable(x)
    torch.autograd.graph.save_on_cpu()
    torch.autograd.graph.saved_tensors_hooks(abs, abs)
    torch.autograd.graph.increment_version(x)
    Square.apply(x)  # as: torch.autograd.Function.apply
    Square.apply(w)  # as: torch.autograd.Function.apply
    SquareWithSetup.apply(w)  # as: torch.autograd.Function.apply with setup_context
    Itemizing.apply(w)  # as: torch.autograd.Function.apply with item in forward
    Marked.apply(w)  # as: torch.autograd.Function.apply with mark_non_differentiable
    Dirty.apply(x)  # as: torch.autograd.Function.apply with mark_dirty
    torch.func.grad(square)(x)  # as: torch.func.grad called
    torch.func.vmap(square)(x)  # as: torch.func.vmap called
    torch.func.jacrev(square)(x)  # as: torch.func.jacrev called
    torch.func.jacfwd(square)(x)  # as: torch.func.jacfwd called
    torch.func.hessian(square)(x)  # as: torch.func.hessian called
    torch.func.vjp(square, x)
    torch.func.jvp(square, (x,), (x,))
    torch.func.grad_and_value(square)(x)  # as: torch.func.grad_and_value called
    torch.func.functional_call(linear, dict(linear.named_parameters()), (x,))
    torch.func.linearize(square, x)
    torch.func.stack_module_state([linear, linear])
    torch.func.functionalize(square)(x)  # as: torch.func.functionalize called
    torch.utils.checkpoint.checkpoint(square, x, use_reentrant=False)
    torch.utils.checkpoint.checkpoint(square, w, use_reentrant=False)
    torch.utils.checkpoint.checkpoint(square, w, use_reentrant=True)
    torch.utils.checkpoint.checkpoint(linear, w, use_reentrant=False)


def cases_saving(x, d):
    torch.save(x, "file.pt")
    torch.load("missing.pt")  # raises
    torch.jit.is_scripting()
    torch.jit.is_tracing()
    torch.jit.script(square)
    torch.jit.trace(square, x)
    torch.jit.annotate(int, 1)
    torch.jit.isinstance(x, torch.Tensor)
    torch.jit.ignore(square)
    torch.jit.unused(square)
    torch.jit.fork(square, x)
    torch.jit.wait(torch.jit.fork(square, x))
    scripted(x)  # as: torch.jit.ScriptModule called
    torch.onnx.is_in_onnx_export()
    torch.compiler.is_compiling()
    torch.compiler.is_dynamo_compiling()
    torch.compiler.is_exporting()
    torch._dynamo.is_compiling()
    torch._utils.is_compiling  # as: torch._utils.is_compiling
    torch.compiler.reset()
    torch._dynamo.reset()
    torch._dynamo.graph_break()
    torch._dynamo.mark_dynamic(x, 0)
    torch._dynamo.mark_static(x, 0)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    torch.compiler.cudagraph_mark_step_begin()
    torch.compiler.disable(square)(x)  # as: torch.compiler.disable made and called
    torch.compiler.disable(square)
    torch.compiler.assume_constant_result(square)
    torch.compiler.allow_in_graph(square)
    torch.compiler.set_stance("default")
    torch.compile(square)(x)  # as: torch.compile made and called
    torch.compile(square)
    compiled_inside(x)  # as: function under torch.compile
    disabled(x)  # as: function under torch.compiler.disable
    disabled_too(x)  # as: function under torch._dynamo.disable
    disabled_shallow(x)  # as: function under torch._dynamo.disable(recursive=False)
    allowed(x)  # as: function under torch.compiler.allow_in_graph
    without_grad(x)  # as: function under torch.no_grad
    under_inference(x)  # as: function under torch.inference_mode
    custom(x)  # as: torch.library.custom_op with register_fake
    custom_without_fake(x)  # as: torch.library.custom_op without register_fake
    torch.ops.probe.double(x)  # as: torch.ops custom op
    torch.library.custom_op("probe::other", mutates_args=())
    torch.library.Library("probe_two", "DEF")
    torch.utils.dlpack.to_dlpack(x)
    torch.utils.dlpack.from_dlpack(x)
    torch.from_dlpack(x)
    torch.export.export  # as: torch.export.export
    torch.fx.symbolic_trace(square)
    torch.overrides.has_torch_function((x,))
    torch.overrides.is_tensor_like(x)
    torch.utils._pytree.tree_map(lambda e: e + 1, d)
    torch.utils._pytree.tree_flatten(d)
    torch.utils.data.DataLoader(dataset)
    next(iter(loader))  # as: torch.utils.data.DataLoader iterated
    dataset[0]  # as: torch.utils.data.Dataset indexed
    torch.utils.data.get_worker_info()
    torch.utils.data.default_collate([x, x])
    torch.profiler.record_function("a")
    torch.profiler.profile()
    torch.autograd.profiler.record_function("a")
    torch.autograd.profiler.profile()
    torch.testing.assert_close(x, x)
    torch.testing.make_tensor((2,), dtype=torch.float32, device="cpu")
    torch.distributed.is_available()
    torch.distributed.is_initialized()
    torch.distributed.get_rank()  # raises
    torch.distributed.get_world_size()  # raises
    torch.distributed.barrier()  # raises
    torch.distributed.all_reduce(x)  # raises
    torch.cond(x.sum() > 0, lambda e: e + 1, lambda e: e - 1, (x,))
    torch.hub.get_dir()
    torch.utils.cpp_extension  # raises; as: torch.utils.cpp_extension
    torch.cuda.amp.GradScaler()
    torch.amp.GradScaler("cpu")
    torch.amp.autocast("cpu")
    torch.autocast("cpu")
    torch.no_grad()
    torch.enable_grad()
    torch.inference_mode()


def cases_nn_utils(x, ts, i, param):
    torch.nn.utils.clip_grad_norm_(linear.parameters(), 1.0)
    torch.nn.utils.clip_grad_norm_([param], 1.0)
    torch.nn.utils.clip_grad_value_([with_grad], 1.0)
    torch.nn.utils.get_total_norm([x])
    torch.nn.utils.parameters_to_vector(linear.parameters())
    torch.nn.utils.vector_to_parameters(torch.zeros(12), linear.parameters())
    torch.nn.utils.rnn.pad_sequence(ts)
    torch.nn.utils.rnn.pad_sequence(ts, batch_first=True, padding_value=0.0)
    torch.nn.utils.rnn.unpad_sequence(x.T, torch.tensor([2, 3, 1, 1]))  # raises
    torch.nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([4]), batch_first=True)
    torch.nn.utils.rnn.pack_padded_sequence(x[None], [4], batch_first=True)
    torch.nn.utils.rnn.pack_padded_sequence(x[None], torch.tensor([4]), batch_first=True, enforce_sorted=False)
    torch.nn.utils.rnn.pack_sequence(ts)
    torch.nn.utils.rnn.pad_packed_sequence(packed)
    torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True, total_length=5)
    torch.nn.utils.weight_norm(nn.Linear(2, 2))
    torch.nn.utils.spectral_norm(nn.Linear(2, 2))
    torch.nn.utils.fuse_conv_bn_eval  # as: torch.nn.utils.fuse_conv_bn_eval
    torch.nn.utils.stateless.functional_call(linear, {}, (x,))
    torch.nn.utils.skip_init(nn.Linear, 2, 2)
    torch.nn.init.normal_(param)
    torch.nn.init.uniform_(param)
    torch.nn.init.zeros_(param)
    torch.nn.init.constant_(param, 1.0)
    torch.nn.init.xavier_uniform_(param)
    torch.nn.init.kaiming_normal_(param)
    torch.nn.init.trunc_normal_(param)
    torch.nn.init.orthogonal_(param)
    torch.nn.init.eye_(param)
    torch.nn.Parameter(x)
    torch.nn.Parameter(torch.zeros(3))
    torch.nn.parameter.UninitializedParameter()
    torch.nn.Linear(3, 3)
    torch.nn.Linear(3, 3)(x)  # as: torch.nn.Linear made and called
    torch.nn.ReLU()
    torch.nn.Dropout(0.1)
    torch.nn.CrossEntropyLoss()
    torch.nn.Sequential(linear)
    torch.nn.ModuleList([linear])
    torch.nn.ModuleDict({"a": linear})
    torch.nn.ParameterList([x])
    torch.nn.Conv2d(1, 1, 1)
    torch.nn.LayerNorm(3)
    torch.nn.Embedding(3, 3)
    torch.nn.Identity()
    torch.nn.Module()


def cases_distributions(x, t, v, sq):
    torch.distributions.Normal(t, 1.0)
    torch.distributions.Normal(x, 1.0)
    torch.distributions.Normal(0.0, 1.0)
    torch.distributions.Normal(x, 1.0, validate_args=False)
    torch.distributions.Normal(x, 1.0).rsample()
    torch.distributions.Normal(x, 1.0).sample()
    torch.distributions.Normal(x, 1.0).log_prob(x)
    torch.distributions.Normal(x, 1.0, validate_args=False).log_prob(x)
    torch.distributions.Normal(x, 1.0).entropy()
    torch.distributions.Categorical(logits=x)
    torch.distributions.Categorical(logits=x).sample()
    torch.distributions.Categorical(logits=x).log_prob(torch.zeros(4))
    torch.distributions.Categorical(probs=x)
    torch.distributions.Categorical(logits=x, validate_args=False)
    torch.distributions.Categorical(logits=x, validate_args=False).sample()
    torch.distributions.Categorical(logits=x, validate_args=False).entropy()
    torch.distributions.OneHotCategorical(logits=x)
    torch.distributions.Bernoulli(logits=x)
    torch.distributions.Bernoulli(logits=x).sample()
    torch.distributions.Bernoulli(logits=x, validate_args=False).sample()
    torch.distributions.Bernoulli(probs=x.clamp(0, 1))
    torch.distributions.Uniform(0.0, x)
    torch.distributions.Uniform(0.0, 1.0)
    torch.distributions.Beta(x, x)
    torch.distributions.Beta(x, x).rsample()
    torch.distributions.Gamma(x, x)
    torch.distributions.Gamma(x, x).rsample()
    torch.distributions.Dirichlet(x)
    torch.distributions.Dirichlet(x).rsample()
    torch.distributions.Exponential(x)
    torch.distributions.Laplace(x, 1.0)
    torch.distributions.LogNormal(x, 1.0)
    torch.distributions.Poisson(x)
    torch.distributions.Multinomial(2, logits=x)
    torch.distributions.MultivariateNormal(torch.zeros(3), torch.eye(3))
    torch.distributions.MultivariateNormal(torch.zeros(3), torch.eye(3)).rsample()
    torch.distributions.Independent(torch.distributions.Normal(x, 1.0), 1)
    torch.distributions.Independent(torch.distributions.Normal(x, 1.0), 1).log_prob(x)
    torch.distributions.RelaxedOneHotCategorical(1.0, logits=x)
    torch.distributions.RelaxedOneHotCategorical(t, logits=x).rsample()
    torch.distributions.Gumbel(x, 1.0).rsample()
    torch.distributions.VonMises(x, 1.0).sample()
    torch.distributions.StudentT(x).rsample()
    torch.distributions.HalfNormal(x).sample()
    torch.distributions.Geometric(x.clamp(0.1, 0.9)).sample()
    torch.distributions.LowRankMultivariateNormal(torch.zeros(3), sq, torch.ones(3)).rsample()
    torch.distributions.MixtureSameFamily(
        torch.distributions.Categorical(torch.ones(4)), torch.distributions.Normal(x[:, 0], 1.0)).sample()
    torch.distributions.TransformedDistribution(
        torch.distributions.Normal(x, 1.0), [torch.distributions.SigmoidTransform()]).rsample()
    torch.distributions.kl_divergence(torch.distributions.Normal(x, 1.0), torch.distributions.Normal(0.0, 1.0))
    torch.distributions.kl_divergence(normal, normal)
    torch.distributions.kl.kl_divergence(normal, normal)
    normal.sample()
    normal.rsample((2,))
    normal.log_prob(x)
    normal.cdf(x)
    normal.entropy()
    normal.mean
    categorical.sample()
    categorical.probs


flag_true = True
with_grad = nn.Parameter(torch.zeros(3))
with_grad.grad = torch.ones(3)
packed = torch.nn.utils.rnn.pack_sequence([torch.rand(3, 2), torch.rand(2, 2)])
