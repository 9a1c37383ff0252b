"""Transformers of x-transformers, with most of what they can be built of."""

import torch
from same import integers, normal, start
from x_transformers import (
    AutoregressiveWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)


def train(name, model, *inputs, loss=lambda out: out.pow(2).mean(), **options):
    start(model, scale=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        found = loss(model(*inputs, **options))
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        losses.append(f"{found.item():.6f}")
    print(name, sum(p.numel() for p in model.parameters()), *losses)


def language_model(**options):
    return TransformerWrapper(num_tokens=50, max_seq_len=32, attn_layers=Decoder(dim=32, depth=2, heads=4, **options))


train("plain", language_model(), integers(50, 2, 16))
train(
    "rotary", language_model(rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True, attn_qk_norm=True), integers(50, 2, 16)
)
train("flash", language_model(attn_flash=True), integers(50, 2, 16))
train("one key and value", language_model(attn_one_kv_head=True), integers(50, 2, 16))
model = AutoregressiveWrapper(language_model(alibi_pos_bias=True, alibi_num_heads=2))
train("alibi", model, integers(50, 2, 17), loss=lambda out: out)
model.eval()
print("greedy", model.generate(integers(50, 1, 4), 6, temperature=0.0).tolist())
encoder = Encoder(dim=16, depth=1, heads=2)
vision = ViTransformerWrapper(image_size=16, patch_size=4, num_classes=5, attn_layers=encoder)
train("vision", vision, normal(2, 3, 16, 16))
both = XTransformer(
    dim=16,
    enc_num_tokens=20,
    enc_depth=1,
    enc_heads=2,
    enc_max_seq_len=16,
    dec_num_tokens=20,
    dec_depth=1,
    dec_heads=2,
    dec_max_seq_len=16,
    tie_token_emb=True,
)
train(
    "encoder and decoder",
    both,
    integers(20, 2, 10),
    integers(20, 2, 9),
    loss=lambda out: out,
    mask=torch.ones(2, 10).bool(),
)
