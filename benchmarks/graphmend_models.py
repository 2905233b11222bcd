"""The twelve models of graphmend.py: public classes of transformers with small random weights.

Each builder returns the model and its keyword arguments, training ones with what gives a loss. A
factory for `breakscope run FILE::NAME` is made of each builder and mode: `t5_eval`, `t5_train`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

VOCABULARY, LENGTH, BATCH, WIDTH = 99, 12, 2, 32
SEQ2SEQ = {
    "vocab_size": VOCABULARY,
    "d_model": WIDTH,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
CAUSAL = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
Built = tuple[torch.nn.Module, dict[str, Any]]


def tokens(length: int = LENGTH) -> torch.Tensor:
    return torch.randint(3, VOCABULARY, (BATCH, length))


def text(training: bool) -> dict[str, torch.Tensor]:
    """Tokens of which the second row ends early."""
    ids = tokens()
    mask = torch.ones_like(ids)
    mask[1, -3:] = 0
    return {"input_ids": ids, "attention_mask": mask, **({"labels": ids} if training else {})}


def pairs(training: bool) -> dict[str, torch.Tensor]:
    """Tokens for an encoder, and for a decoder tokens or labels."""
    given = text(False)
    return {**given, ("labels" if training else "decoder_input_ids"): tokens(8)}


def t5(training: bool) -> Built:
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
    )
    return T5ForConditionalGeneration(config), pairs(training)


def bart(training: bool) -> Built:
    from transformers import BartConfig, BartForConditionalGeneration

    return BartForConditionalGeneration(BartConfig(**SEQ2SEQ)), pairs(training)


def whisper(training: bool) -> Built:
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    sizes = {**SEQ2SEQ, "max_source_positions": 40, "max_target_positions": 64}
    config = WhisperConfig(**sizes, num_mel_bins=16)
    given = {"input_features": torch.randn(BATCH, 16, 80)}
    name = "labels" if training else "decoder_input_ids"
    return WhisperForConditionalGeneration(config), {**given, name: tokens(8)}


def marian(training: bool) -> Built:
    from transformers import MarianConfig, MarianMTModel

    config = MarianConfig(**SEQ2SEQ, decoder_vocab_size=VOCABULARY)
    return MarianMTModel(config), pairs(training)


def biogpt(training: bool) -> Built:
    from transformers import BioGptConfig, BioGptForCausalLM

    return BioGptForCausalLM(BioGptConfig(**CAUSAL)), text(training)


def blenderbot(training: bool) -> Built:
    from transformers import BlenderbotConfig, BlenderbotForConditionalGeneration

    return BlenderbotForConditionalGeneration(BlenderbotConfig(**SEQ2SEQ)), pairs(training)


def pegasus(training: bool) -> Built:
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    return PegasusForConditionalGeneration(PegasusConfig(**SEQ2SEQ)), pairs(training)


def layoutlmv3(training: bool) -> Built:
    from transformers import LayoutLMv3Config, LayoutLMv3ForTokenClassification

    sizes = {"coordinate_size": 4, "shape_size": 8, "input_size": 32, "patch_size": 8}
    config = LayoutLMv3Config(**CAUSAL, **sizes, max_2d_position_embeddings=64, num_labels=3)
    given = text(False)
    given["bbox"] = torch.tensor([1, 2, 8, 9]).expand(BATCH, LENGTH, 4).contiguous()
    given["pixel_values"] = torch.randn(BATCH, 3, 32, 32)
    if training:
        given["labels"] = torch.randint(0, 3, (BATCH, LENGTH))
    return LayoutLMv3ForTokenClassification(config), given


def phi3_longrope(training: bool) -> Built:
    from transformers import Phi3Config, Phi3ForCausalLM

    factors = {"short_factor": [1.0] * 4, "long_factor": [4.0] * 4}
    config = Phi3Config(
        **CAUSAL,
        num_key_value_heads=2,
        original_max_position_embeddings=32,
        rope_scaling={"type": "longrope", **factors},
    )
    return Phi3ForCausalLM(config), text(training)


def grounding_dino(training: bool) -> Built:
    from transformers import GroundingDinoConfig, GroundingDinoForObjectDetection, SwinConfig

    backbone = SwinConfig(
        image_size=64,
        embed_dim=8,
        depths=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
        window_size=4,
        out_features=["stage2", "stage3", "stage4"],
    )
    bert = {**CAUSAL, "model_type": "bert", "vocab_size": 2000}
    config = GroundingDinoConfig(
        backbone_config=backbone,
        text_config=bert,
        d_model=WIDTH,
        encoder_layers=2,
        encoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_layers=2,
        decoder_attention_heads=4,
        decoder_ffn_dim=48,
        num_queries=6,
        max_text_len=32,
    )
    # [CLS] a . b . [SEP]: the model looks for these numbers of BERT's vocabulary
    ids = torch.tensor([[101, 1037, 1012, 1038, 1012, 102]]).expand(BATCH, 6).contiguous()
    given: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    given["pixel_values"] = torch.randn(BATCH, 3, 64, 64)
    given["pixel_mask"] = torch.ones(BATCH, 64, 64, dtype=torch.long)
    return GroundingDinoForObjectDetection(config), given


def longformer(training: bool) -> Built:
    from transformers import LongformerConfig, LongformerForMaskedLM

    config = LongformerConfig(**{**CAUSAL, "pad_token_id": 1}, attention_window=8)
    ids = tokens(32)
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if training:
        given["labels"] = ids
    return LongformerForMaskedLM(config), given


def clap_fusion(training: bool) -> Built:
    from transformers import ClapConfig, ClapModel

    audio = {
        "enable_fusion": True,
        "fusion_type": "aff_2d",
        "spec_size": 64,
        "num_mel_bins": 16,
        "window_size": 4,
        "depths": [1, 1],
        "num_attention_heads": [1, 2],
        "patch_embeds_hidden_size": 16,
        "hidden_size": 32,
        "patch_size": 4,
        "num_classes": 3,
        "aff_block_r": 2,
    }
    config = ClapConfig(
        text_config={**CAUSAL, "pad_token_id": 1},
        audio_config=audio,
        projection_dim=16,
    )
    given: dict[str, Any] = {**text(False), "input_features": torch.randn(BATCH, 4, 256, 16)}
    given["is_longer"] = torch.tensor([[True], [training]])  # batch norm wants two in training
    if training:
        given["return_loss"] = True
    return ClapModel(config), given


BUILDERS = (t5, bart, whisper, marian, biogpt, blenderbot, pegasus, layoutlmv3)
BUILDERS += (phi3_longrope, grounding_dino, longformer, clap_fusion)
MODES = ("eval", "train")


def factory(build: Callable[[bool], Built], mode: str) -> Callable[[], tuple]:
    """What `breakscope run FILE::NAME` calls."""

    def make() -> tuple[torch.nn.Module, tuple, dict[str, Any]]:
        torch.manual_seed(0)
        training = mode == "train"
        model, given = build(training)
        return model.train(training), (), given

    return make


def calls(build: Callable[[bool], Built], mode: str) -> Callable[[], list]:
    """What `--calls` calls: the same call three times."""
    return lambda: [factory(build, mode)()[1:]] * 3


for _build in BUILDERS:
    for _mode in MODES:
        globals()[f"{_build.__name__}_{_mode}"] = factory(_build, _mode)
        globals()[f"{_build.__name__}_{_mode}_calls"] = calls(_build, _mode)
