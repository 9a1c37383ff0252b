"""Sentence encoders with a small BERT, their pooling and losses, on given token numbers."""

import torch
from same import integers, losses, start
from sentence_transformers import util
from sentence_transformers.models import Dense, Normalize, Pooling
from transformers import BertConfig, BertModel

bert = BertModel(
    BertConfig(
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
)
pool, dense, unit = Pooling(32, pooling_mode="mean"), Dense(32, 16), Normalize()
model = start(torch.nn.ModuleList([bert, dense]), scale=0.1)
tokens, mask = integers(60, 12, 9), torch.ones(12, 9, dtype=torch.long)
mask[::2, 6:] = 0


def encode(tokens, mask):
    hidden = bert(input_ids=tokens, attention_mask=mask).last_hidden_state
    return unit(dense(pool({"token_embeddings": hidden, "attention_mask": mask})))["sentence_embedding"]


def loss():
    a, b = encode(tokens, mask).chunk(2)
    return torch.nn.functional.cross_entropy(util.cos_sim(a, b) * 20, torch.arange(6))


losses(model, loss, torch.optim.AdamW(model.parameters(), 1e-3), 6)
print(util.cos_sim(encode(tokens, mask)[:2], encode(tokens, mask)[2:4]))
print(util.semantic_search(encode(tokens[:2], mask[:2]), encode(tokens, mask), top_k=2)[0][0]["corpus_id"], 0.5, 0.25)
