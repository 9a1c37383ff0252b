"""Low-rank adapters of peft on a GPT-2."""

import torch
from peft import LoraConfig, get_peft_model
from same import integers, losses, start
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(
    vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0
)
base = GPT2LMHeadModel(config)
model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], lora_dropout=0.0))
start(model, scale=0.1)
tokens = integers(50, 2, 12)
trained = [p for p in model.parameters() if p.requires_grad]
losses(model, lambda: model(input_ids=tokens, labels=tokens).loss, torch.optim.AdamW(trained, lr=1e-2), 8)
print(len(trained), sum(p.numel() for p in trained), sum(p.numel() for p in model.parameters()))
