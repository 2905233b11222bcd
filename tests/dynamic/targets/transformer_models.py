"""Real models of transformers, from small random configurations."""

import torch


def tokens(*shape):
    return torch.randint(2, 60, shape)


SMALL = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    ids = tokens(2, 8)
    return LlamaForCausalLM(LlamaConfig(**SMALL, num_key_value_heads=1)), (), {"input_ids": ids, "labels": ids}


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=64, n_embd=16, n_layer=2, n_head=2, n_positions=32)
    return GPT2LMHeadModel(config), (tokens(2, 8),), {}


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    mask = torch.ones(2, 8, dtype=torch.long)
    return BertForSequenceClassification(BertConfig(**SMALL)), (tokens(2, 8),), {"attention_mask": mask}


def t5():
    from transformers import T5Config, T5ForConditionalGeneration

    config = T5Config(vocab_size=64, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0)
    return T5ForConditionalGeneration(config), (), {"input_ids": tokens(2, 8), "labels": tokens(2, 6)}


def vit():
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16,
                       patch_size=4)
    return ViTForImageClassification(config), (torch.randn(2, 3, 16, 16),), {}


def mixtral():
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(**SMALL, num_key_value_heads=1, num_local_experts=4)
    return MixtralForCausalLM(config), (tokens(2, 8),), {}


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    config = SegformerConfig(depths=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16], num_attention_heads=[1, 1, 2, 2],
                             decoder_hidden_size=16)
    return SegformerForSemanticSegmentation(config), (torch.randn(1, 3, 64, 64),), {}


def llama_full():
    """Two layers with the sizes of a large model."""
    from transformers import AutoModelForCausalLM, LlamaConfig

    config = LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=2, num_attention_heads=64,
                         num_key_value_heads=8, vocab_size=32000)
    ids = tokens(1, 64)
    return AutoModelForCausalLM.from_config(config), (), {"input_ids": ids, "labels": ids}
