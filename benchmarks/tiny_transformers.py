"""Models of the transformers library with small random weights: what measure_truth.py measures of it.

The models are every third type that `AutoModel` knows, by name: nobody picks them. Each is built
from the type's own default configuration with the sizes in SMALL, and called with random tokens,
pixels or samples, whichever its main input is. A type that cannot be built or called like this is
left out, and the truth file counts it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

LIBRARY = "transformers"
EVERY = 3
VOCABULARY, LENGTH, IMAGE = 99, 12, 32
SMALL = {
    **dict.fromkeys(("vocab_size", "text_vocab_size", "decoder_vocab_size"), VOCABULARY),
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size"), 32),
    **dict.fromkeys(("encoder_hidden_dim", "decoder_hidden_size", "projection_dim"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "n_inner", "hidden_dim"), 48),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "moe_intermediate_size"), 48),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "num_heads", "n_head", "n_heads"), 4),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads"), 2),
    **dict.fromkeys(("head_dim", "d_kv"), 8),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_source_positions"), 64),
    **dict.fromkeys(("num_local_experts", "num_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_topk", "num_experts_per_token"), 2),
    **dict.fromkeys(("pad_token_id", "bos_token_id", "decoder_start_token_id"), 0),
    **dict.fromkeys(("eos_token_id",), 1),
    "image_size": IMAGE,
    "patch_size": 8,
}


def names() -> list[str]:
    """The chosen model types, by name."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return sorted(MODEL_MAPPING_NAMES)[::EVERY]


def make(name: str) -> tuple[Callable, tuple, dict[str, Any]]:
    """A model of this type, its arguments and keyword arguments."""
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    config = AutoConfig.for_model(name)
    shrink(config)
    model = AutoModel.from_config(config).eval()
    return model, (), inputs(model)


def shrink(config: Any) -> None:
    """Give a configuration, and those inside it, the small sizes that it has a place for."""
    for key, value in list(vars(config).items()):
        if key in SMALL and isinstance(value, int) and not isinstance(value, bool):
            setattr(config, key, SMALL[key])
        elif hasattr(value, "to_diff_dict"):
            shrink(value)


def inputs(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Random values for the model's main input."""
    main = model.main_input_name
    tokens = torch.randint(2, VOCABULARY, (2, LENGTH))
    if main == "pixel_values":
        return {main: torch.randn(2, 3, IMAGE, IMAGE)}
    if main == "input_values":
        return {main: torch.randn(2, 4000)}
    if main == "input_features":
        return {main: torch.randn(2, 80, 128)}
    return {main: tokens, "decoder_input_ids": tokens} if takes_two(model) else {main: tokens}


def takes_two(model: torch.nn.Module) -> bool:
    """True for an encoder with a decoder, which both want tokens."""
    return bool(getattr(model.config, "is_encoder_decoder", False))
