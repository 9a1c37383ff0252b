"""A language model, and a tagger of sequences of several lengths."""

from __future__ import annotations

import math
from typing import Any, Optional

import gradpack as torch
from gradpack import Tensor, nn
from gradpack.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 100) -> None:
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


class TransformerModel(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int) -> None:
        super().__init__()
        self.pos_encoder = PositionalEncoding(d_model)
        layers = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout=0.1)
        self.transformer_encoder = nn.TransformerEncoder(layers, nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self) -> None:
        initrange = 0.1
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.linear.bias.data.zero_()
        self.linear.weight.data.uniform_(-initrange, initrange)

    def forward(self, src: Tensor, src_mask: Tensor | None = None) -> Tensor:
        src = self.embedding(src) * math.sqrt(self.d_model)
        src = self.pos_encoder(src)
        if src_mask is None:
            src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        output = self.transformer_encoder(src, src_mask)
        return self.linear(output)


class Tagger(nn.Module):
    def __init__(self, vocab: int, emb: int, hid: int, tags: int) -> None:
        super().__init__()
        self.hidden_dim = hid
        self.emb = nn.Embedding(vocab, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hid, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hid, tags)

    def init_hidden(self, n: int) -> tuple[Tensor, Tensor]:
        return torch.zeros(4, n, self.hidden_dim), torch.zeros(4, n, self.hidden_dim)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.emb(x), lengths.cpu(), batch_first=True, enforce_sorted=False)
        out, (h, c) = self.lstm(packed, self.init_hidden(x.shape[0]))
        padded, _ = pad_packed_sequence(out, batch_first=True)
        return self.out(padded)


seqs = [torch.tensor([1, 2, 3]), torch.tensor([4, 5])]
batch = pad_sequence(seqs, batch_first=True)
lengths = torch.tensor([len(s) for s in seqs])
tagger = Tagger(10, 4, 5, 3)
scores = tagger(batch, lengths)
mask = torch.arange(batch.size(1))[None, :] < lengths[:, None]
loss = nn.CrossEntropyLoss()(scores[mask], torch.zeros(int(mask.sum()), dtype=torch.long))
loss.backward()
tm = TransformerModel(20, 8, 2, 16, 2)
tm.eval()
print(tm(torch.randint(0, 20, (5, 2))).shape, loss.item())
rnn = nn.GRUCell(3, 4)
hx = torch.zeros(2, 4)
for t in range(3):
    hx = rnn(torch.randn(2, 3), hx)
print(hx.norm(), hx.std(dim=1), hx.max(dim=1).values, hx.topk(2, dim=1)[1])


class Passing(nn.Linear):
    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        return torch.zeros(2)


class Wrapper(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *args: Tensor, scale: float = 1.0) -> Tensor:
        out: Tensor = self.inner(*args)
        return out * scale


w = Wrapper(nn.Linear(2, 2))
print(w(torch.randn(2, 2), scale=2.0))
lin: nn.Module = w.inner
fns: list[nn.Module] = [nn.ReLU(), nn.Linear(2, 2), nn.LSTM(2, 2)]
acts = {"relu": nn.ReLU(), "tanh": nn.Tanh()}
print(acts["relu"](torch.ones(2)))


def apply_all(ms: list[nn.Module], x: Tensor) -> Tensor:
    for m in ms[:2]:
        x = m(x)
    return x


print(apply_all(fns, torch.ones(1, 2)), list(map(nn.ReLU(), [torch.ones(1)])))
loss_fn: nn.Module = nn.MSELoss()
print(loss_fn(torch.ones(1), torch.zeros(1)).item())
