"""GPT-2 of transformers, trained on a sentence of numbers, and what it then says."""

import torch
from same import integers, losses, start
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
config = GPT2Config(
    vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
)
model = start(GPT2LMHeadModel(config), scale=0.1)
tokens = integers(50, 2, 16)
losses(model, lambda: model(tokens, labels=tokens).loss, torch.optim.AdamW(model.parameters(), lr=1e-2), 10)
model.eval()
with torch.no_grad():
    print("logits", model(tokens[:, :5]).logits[0, -1, :5])
    print("said", model.generate(tokens[:1, :4], max_new_tokens=8, do_sample=False, pad_token_id=0).tolist())
