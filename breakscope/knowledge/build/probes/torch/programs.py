"""Saving, scripting, compiling, custom operators, profiling, data loading, distributed."""
# ruff: noqa

import torch
import torch._dynamo
import torch.amp
import torch.autograd
import torch.compiler
import torch.cuda
import torch.distributed
import torch.jit
import torch.library
import torch.nn as nn
import torch.overrides
import torch.profiler
import torch.testing
import torch.utils._pytree
import torch.utils.data
import torch.utils.dlpack

scripted = torch.jit.script(nn.ReLU())
compiled_inside = torch.compile(lambda e: e + 1, backend="eager")
dataset = torch.utils.data.TensorDataset(torch.zeros(4, 3))
loader = torch.utils.data.DataLoader(dataset, batch_size=2)
future = torch.futures.Future()


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


def square(a):
    return (a * a).sum()


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
    torch.fx.Graph()
    torch.futures.Future()
    future.set_result(x)  # as: torch.futures.Future.set_result
    future.wait()  # as: torch.futures.Future.wait
    future.value()  # as: torch.futures.Future.value
    future.done()  # as: torch.futures.Future.done
    torch.UntypedStorage(4)
    torch.FloatStorage(4)
    torch.overrides.has_torch_function((x,))
    torch.overrides.is_tensor_like(x)
    torch.utils._pytree.tree_map(lambda e: e + 1, d)
    torch.utils._pytree.tree_flatten(d)
    torch.utils.data.DataLoader(dataset)
    torch.utils.data.TensorDataset(x)
    torch.utils.data.StackDataset(dataset, dataset)
    torch.utils.data.Subset(dataset, [0, 2])
    torch.utils.data.ConcatDataset([dataset, dataset])
    torch.utils.data.ChainDataset([dataset])
    torch.utils.data.SequentialSampler(dataset)
    torch.utils.data.RandomSampler(dataset)
    torch.utils.data.SubsetRandomSampler([0, 2])
    torch.utils.data.WeightedRandomSampler([0.5, 0.5], 2)
    torch.utils.data.BatchSampler([0, 1, 2], 2, False)
    torch.utils.data.random_split(dataset, [1, 3])
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
