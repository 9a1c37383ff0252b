"""Recurrent networks, embeddings and attention."""

from __future__ import annotations

import math

import gradpack as torch
from gradpack import nn


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool = True) -> torch.Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if causal:
        mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ v


class Tagger(nn.Module):
    def __init__(self, words: int, size: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, size, padding_idx=0)
        self.lstm = nn.LSTM(size, size, num_layers=2, batch_first=True)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        out, (hidden, _) = self.lstm(x)
        result: torch.Tensor = attend(out, out, out) + hidden[-1].unsqueeze(1)
        return result


tokens = torch.randint(1, 20, (2, 5))
tagged = Tagger(20, 8)(tokens)
heads = torch.randn(2, 4, 5, 8)
same = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
assert torch.allclose(same, attend(heads, heads, heads), atol=1e-5)
assert tagged.shape == torch.Size([2, 5, 8])
lengths = torch.tensor([5, 3])
packed = nn.utils.rnn.pack_padded_sequence(torch.randn(2, 5, 4), lengths, batch_first=True)
output, (h, c) = nn.LSTM(4, 3, batch_first=True)(packed)
padded, sizes = nn.utils.rnn.pad_packed_sequence(output, batch_first=True)
last, state = nn.GRU(4, 3)(torch.randn(5, 2, 4), torch.zeros(1, 2, 3))
assert (
    padded.shape == (2, 5, 3) and (h + c).shape == state.shape and last.shape == (5, 2, 3) and sizes.tolist() == [5, 3]
)
