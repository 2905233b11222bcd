"""Models of public libraries, small and with random weights: what fake_agreement.py runs twice.

Each builder gives (callable, args, kwargs). The libraries need not be installed: their folder is put on
the path. A transformers model is built from its type's own default configuration with small sizes
(tiny_transformers.py), so any class of it can be asked for as "hf/TYPE=CLASS".
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

Made = tuple[Callable, tuple, dict[str, Any]]


def make(name: str) -> Made:
    torch.manual_seed(0)
    _missing_ops()
    if name.startswith("hf/"):
        return transformer(*name.removeprefix("hf/").split("="))
    return BUILDERS[name]()


def transformer(kind: str, wanted: str = "") -> Made:
    """A transformers model of a type, of the class named, else that of AutoModel."""
    import tiny_transformers
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.for_model(kind)
    tiny_transformers.shrink(config)
    if wanted:
        module, _, name = wanted.rpartition(".")
        model = getattr(importlib.import_module(module), name)(config)
    else:
        model = AutoModel.from_config(config)
    return model.eval(), (), tiny_transformers.inputs(model)


def _missing_ops() -> None:
    """The ops of torchvision's C++ library, which a wheel for other hardware does not load: their
    schemas, which its fake kernels and its Python code ask for."""
    for name, schema in TORCHVISION_OPS.items():
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", schema)


TORCHVISION_OPS = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "roi_align": "(Tensor input, Tensor rois, float scale, int height, int width, int ratio, "
    "bool aligned) -> Tensor",
    "_roi_align_backward": "(Tensor grad, Tensor rois, float scale, int height, int width, int n, "
    "int c, int h, int w, int ratio, bool aligned) -> Tensor",
    "roi_pool": "(Tensor input, Tensor rois, float scale, int height, int width) -> (Tensor, Tensor)",
    "_roi_pool_backward": "(Tensor grad, Tensor rois, Tensor argmax, float scale, int height, "
    "int width, int n, int c, int h, int w) -> Tensor",
    "ps_roi_align": "(Tensor input, Tensor rois, float scale, int height, int width, int ratio) "
    "-> (Tensor, Tensor)",
    "_ps_roi_align_backward": "(Tensor grad, Tensor rois, Tensor mapping, float scale, int height, "
    "int width, int ratio, int n, int c, int h, int w) -> Tensor",
    "ps_roi_pool": "(Tensor input, Tensor rois, float scale, int height, int width) "
    "-> (Tensor, Tensor)",
    "_ps_roi_pool_backward": "(Tensor grad, Tensor rois, Tensor mapping, float scale, int height, "
    "int width, int n, int c, int h, int w) -> Tensor",
    "deform_conv2d": "(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int sh, "
    "int sw, int ph, int pw, int dh, int dw, int groups, int offsets, bool use_mask) -> Tensor",
    "_deform_conv2d_backward": "(Tensor grad, Tensor input, Tensor weight, Tensor offset, "
    "Tensor mask, Tensor bias, int sh, int sw, int ph, int pw, int dh, int dw, int groups, "
    "int offsets, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
}


def image(size: int = 64, batch: int = 2) -> torch.Tensor:
    return torch.randn(batch, 3, size, size)


def vision(name: str, size: int = 64, **given: Any) -> Callable[[], Made]:
    def build() -> Made:
        from torchvision.models import get_model

        return get_model(name, weights=None, **given).eval(), (image(size),), {}

    return build


def raft() -> Made:
    from torchvision.models.optical_flow import raft_small

    return raft_small(weights=None).eval(), (image(128, 1), image(128, 1)), {"num_flow_updates": 2}


VIT = {
    "image_size": 64,
    "patch_size": 16,
    "num_classes": 10,
    "dim": 32,
    "depth": 2,
    "heads": 2,
    "mlp_dim": 48,
}


def vit(module: str, name: str, size: int = 64, drop: tuple[str, ...] = (), **given: Any):
    def build() -> Made:
        made = getattr(importlib.import_module(f"vit_pytorch.{module}"), name)
        known = {key: value for key, value in VIT.items() if key not in drop}
        return made(**{**known, **given}).eval(), (image(size),), {}

    return build


def na_vit() -> Made:
    from vit_pytorch.na_vit import NaViT

    pictures = [[torch.randn(3, 32, 64), torch.randn(3, 16, 32)], [torch.randn(3, 64, 48)]]
    return NaViT(**VIT).eval(), (pictures,), {}


def audio(name: str) -> Callable[[], Made]:
    def build() -> Made:
        import torchaudio.models as models

        lengths = torch.tensor([20, 16])
        if name == "conformer":
            made = models.Conformer(16, 2, 32, 2, 31)
            return made.eval(), (torch.randn(2, 20, 16), lengths), {}
        if name == "deepspeech":
            return models.DeepSpeech(16, 32, 10), (torch.randn(2, 1, 20, 16),), {}
        if name == "emformer":
            made = models.Emformer(16, 2, 32, 2, 4, right_context_length=1)
            return made.eval(), (torch.randn(2, 17, 16), torch.tensor([16, 12])), {}
        made = models.Tacotron2(n_symbol=20, n_mels=8)
        text = torch.randint(0, 20, (2, 8))
        arguments = (text, torch.tensor([8, 6]), torch.randn(2, 8, 12), torch.tensor([12, 9]))
        return made, arguments, {}

    return build


def metric(name: str, **given: Any) -> Callable[[], Made]:
    """A loss or miner of pytorch-metric-learning on embeddings with labels."""

    def build() -> Made:
        from pytorch_metric_learning import losses, miners

        made = getattr(losses, name, None) or getattr(miners, name)
        x, labels = torch.randn(12, 16), torch.arange(12) % 4
        if name == "VICRegLoss":
            return made(**given), (x,), {"ref_emb": torch.randn(12, 16)}
        return made(**given), (x, labels), {}

    return build


def kernel(name: str) -> Callable[[], Made]:
    """A model of gpytorch."""

    def build() -> Made:
        import gpytorch

        x, y = torch.linspace(0, 1, 12)[:, None], torch.linspace(0, 1, 12).sin()
        mean = gpytorch.means.ConstantMean()
        shape = (
            gpytorch.kernels.SpectralMixtureKernel(num_mixtures=2)
            if name == "mixture"
            else gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
        )
        likelihood = gpytorch.likelihoods.GaussianLikelihood()

        class Exact(gpytorch.models.ExactGP):
            def __init__(self) -> None:
                super().__init__(x, y, likelihood)
                self.mean, self.shape = mean, shape

            def forward(self, given: torch.Tensor) -> Any:
                return gpytorch.distributions.MultivariateNormal(
                    self.mean(given), self.shape(given)
                )

        model = Exact()
        if name == "mixture":
            return (lambda given: shape(given).to_dense()), (x,), {}
        objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
        return (lambda given: -objective(model(given), y)), (x,), {}

    return build


def e3(name: str) -> Callable[[], Made]:
    def build() -> Made:
        import e3nn.nn
        from e3nn import o3

        if name == "bn":
            return e3nn.nn.BatchNorm("4x0e + 4x1o"), (torch.randn(2, 16),), {}
        if name == "tp":
            product = o3.FullyConnectedTensorProduct("2x0e + 1o", "2x0e + 1o", "2x0e + 1o")
            return product, (torch.randn(2, 5), torch.randn(2, 5)), {}
        if name == "sh":
            return o3.SphericalHarmonics([0, 1, 2], True), (torch.randn(4, 3),), {}
        gate = e3nn.nn.Gate("4x0e", [torch.relu], "2x0e", [torch.sigmoid], "2x1o")
        return gate, (torch.randn(2, 12),), {}

    return build


def entmax(name: str) -> Callable[[], Made]:
    return lambda: (getattr(importlib.import_module("entmax"), name), (torch.randn(4, 8),), {})


def flow() -> Made:
    from nflows.transforms.svd import SVDLinear

    return SVDLinear(6, 4).forward, (torch.randn(4, 6),), {}


def timm(name: str) -> Callable[[], Made]:
    return lambda: (importlib.import_module("timm").create_model(name).eval(), (image(224, 1),), {})


def graph(name: str) -> Callable[[], Made]:
    """A network of torch_geometric on a ring of nodes."""

    def build() -> Made:
        import torch_geometric.nn as nn

        edges = torch.stack([torch.arange(8), torch.arange(1, 9) % 8])
        made = nn.TAGConv(4, 8) if name == "tag" else nn.GAT(4, 8, 2, 3, v2=name == "gatv2")
        return made, (torch.randn(8, 4), edges), {}

    return build


def x_transformer(**given: Any) -> Callable[[], Made]:
    def build() -> Made:
        from x_transformers import Decoder, TransformerWrapper

        layers = Decoder(dim=32, depth=2, heads=2, attn_dim_head=16, **given)
        model = TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=layers)
        return model, (torch.randint(0, 64, (2, 12)),), {}

    return build


def quantized() -> Made:
    from vector_quantize_pytorch import VectorQuantize

    made = VectorQuantize(dim=16, codebook_size=32, use_cosine_sim=True)
    return made, (torch.randn(2, 8, 16),), {}


def solved() -> Made:
    from torchdiffeq import odeint

    weight, times = torch.randn(3, 3), torch.linspace(0, 1, 4)
    return (
        (lambda y: odeint(lambda t, y: y @ weight, y, times, method="euler")),
        (torch.ones(3),),
        {},
    )


BUILDERS: dict[str, Callable[[], Made]] = {
    **{
        f"torchvision/{name}": vision(name)
        for name in ("densenet121", "mnasnet0_5", "regnet_y_400mf", "resnet18", "squeezenet1_1")
    },
    "torchvision/googlenet": vision("googlenet", init_weights=False, aux_logits=False),
    "torchvision/vit_b_16": vision("vit_b_16", image_size=64),
    "torchvision/maxvit_t": vision("maxvit_t", 224),
    "torchvision/lraspp_mobilenet_v3_large": vision(
        "lraspp_mobilenet_v3_large", weights_backbone=None
    ),
    "torchvision/raft_small": raft,
    "vit-pytorch/cait": vit("cait", "CaiT", cls_depth=1, layer_dropout=0.05),
    "vit-pytorch/cross_vit": vit(
        "cross_vit",
        "CrossViT",
        48,
        ("patch_size", "mlp_dim", "heads", "dim"),
        image_size=48,
        sm_dim=16,
        lg_dim=32,
    ),
    "vit-pytorch/deepvit": vit("deepvit", "DeepViT"),
    "vit-pytorch/learnable_memory_vit": vit("learnable_memory_vit", "ViT"),
    "vit-pytorch/na_vit": na_vit,
    "vit-pytorch/pit": vit("pit", "PiT", image_size=64, depth=(1, 1), patch_size=8),
    "vit-pytorch/simple_vit": vit("simple_vit", "SimpleViT"),
    "vit-pytorch/t2t": vit("t2t", "T2TViT", drop=("patch_size",)),
    "vit-pytorch/vit_patch_dropout": vit("vit_with_patch_dropout", "ViT"),
    "vit-pytorch/xcit": vit("xcit", "XCiT", cls_depth=1),
    **{f"torchaudio/{n}": audio(n) for n in ("conformer", "deepspeech", "emformer", "tacotron2")},
    "pml/arcfaceloss": metric("ArcFaceLoss", num_classes=4, embedding_size=16),
    "pml/batchhardminer": metric("BatchHardMiner"),
    "pml/fastaploss": metric("FastAPLoss"),
    "pml/liftedstructureloss": metric("LiftedStructureLoss"),
    "pml/multisimilarityloss": metric("MultiSimilarityLoss"),
    "pml/pairmarginminer": metric("PairMarginMiner"),
    "pml/tripletmarginminer": metric("TripletMarginMiner"),
    "pml/vicregloss": metric("VICRegLoss"),
    "gpytorch/exact": kernel("exact"),
    "gpytorch/sm": kernel("mixture"),
    **{f"e3nn/{name}": e3(name) for name in ("bn", "gate", "sh", "tp")},
    "entmax/entmax15": entmax("entmax15"),
    "entmax/entmax_bisect": entmax("entmax_bisect"),
    "nflows/svd": flow,
    **{
        f"timm/{name}": timm(name)
        for name in (
            "convnext_atto",
            "mobilenetv3_small_050",
            "test_mambaout",
            "test_nfnet",
            "test_vit",
        )
    },
    **{f"pyg/{name}": graph(name) for name in ("gat", "gatv2", "tag")},
    "x-transformers/decoder_rope": x_transformer(rotary_pos_emb=True),
    "x-transformers/decoder_t5rel": x_transformer(rel_pos_bias=True),
    "x-transformers/qk_norm": x_transformer(attn_qk_norm=True),
    "vector-quantize/vq_cosine": quantized,
    "torchdiffeq/euler": solved,
}
