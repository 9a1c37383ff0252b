"""Llama, T5, a vision transformer, Whisper and a mixture of experts of transformers."""

import torch
from same import integers, losses, normal, start
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

tokens = integers(50, 2, 10, seed=3) % 48 + 2
small = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
llama = LlamaForCausalLM(LlamaConfig(**small, num_key_value_heads=2, max_position_embeddings=64))
mixtral = MixtralForCausalLM(
    MixtralConfig(
        **small, num_key_value_heads=2, num_local_experts=4, max_position_embeddings=64, output_router_logits=True
    )
)
t5 = T5ForConditionalGeneration(
    T5Config(
        vocab_size=50,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        dropout_rate=0.0,
        decoder_start_token_id=0,
    )
)
vit = ViTForImageClassification(
    ViTConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        image_size=32,
        patch_size=8,
        num_labels=3,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
)
whisper = WhisperForConditionalGeneration(
    WhisperConfig(
        vocab_size=50,
        num_mel_bins=8,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_source_positions=16,
        max_target_positions=32,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
        dropout=0.0,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
)
images, labels = normal(2, 3, 32, 32), integers(3, 2)
for name, model, inputs in (
    ("llama", llama, {"input_ids": tokens, "labels": tokens}),
    ("mixtral", mixtral, {"input_ids": tokens, "labels": tokens}),
    ("t5", t5, {"input_ids": tokens, "labels": tokens.flip(1)}),
    ("vit", vit, {"pixel_values": images, "labels": labels}),
    ("whisper", whisper, {"input_features": normal(2, 8, 32), "labels": tokens}),
):
    start(model, scale=0.1)
    losses(model, lambda m=model, i=inputs: m(**i).loss, torch.optim.AdamW(model.parameters(), 1e-3), 4)
    model.eval()
    print(name, sum(p.numel() for p in model.parameters()) / 2.0)
print(llama.generate(tokens, max_new_tokens=6, do_sample=False, pad_token_id=0), 0.5)
print(t5.generate(tokens, max_new_tokens=6, num_beams=3), 0.5)
