"""BERT and T5 of transformers: classification, and one sequence from another."""

import torch
from same import integers, losses, start
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

tokens, mask = integers(60, 4, 12), torch.ones(4, 12, dtype=torch.int64)
mask[1, 8:] = 0
labels = torch.tensor([0, 1, 2, 1])
small = dict(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48)
no_dropout = dict(hidden_dropout_prob=0, attention_probs_dropout_prob=0)
bert = start(BertForSequenceClassification(BertConfig(**small, num_labels=3, **no_dropout)), scale=0.1)
optimizer = torch.optim.AdamW(bert.parameters(), lr=3e-3)
losses(bert, lambda: bert(tokens, attention_mask=mask, labels=labels).loss, optimizer, 6)
config = T5Config(
    vocab_size=60, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, dropout_rate=0, decoder_start_token_id=0
)
t5 = start(T5ForConditionalGeneration(config), scale=0.1)
losses(t5, lambda: t5(input_ids=tokens, labels=tokens).loss, torch.optim.AdamW(t5.parameters(), lr=3e-3), 6)
llama = start(LlamaForCausalLM(LlamaConfig(**small, num_key_value_heads=2, max_position_embeddings=32)), scale=0.1)
losses(llama, lambda: llama(tokens, labels=tokens).loss, torch.optim.AdamW(llama.parameters(), lr=3e-3), 6)
