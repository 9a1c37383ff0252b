"""A character-level transformer, written as one writes PyTorch.

Replace the first import below by `import torch` and the file runs there as it is.

    python gpt.py [TEXTFILE [STEPS]]    # without a file, it learns its own source
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gradpack as torch

nn = torch.nn
F = torch.nn.functional
Tensor = torch.Tensor


class Attention(nn.Module):
    """Causal self-attention with several heads."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        shape = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(shape).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        joined: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return joined


class Block(nn.Module):
    """Attention, then a two-layer network on each position; both normalise first."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads, dropout)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        mixed: Tensor = x + self.mlp(self.norm2(x))
        return mixed


class GPT(nn.Module):
    """Maps (batch, length) indices of characters to (batch, length, vocabulary) logits.

    With `recompute` set, only the input of each block is kept for backward.
    """

    def __init__(
        self, vocabulary: int, context: int = 96, width: int = 96, heads: int = 4, layers: int = 3, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.context = context
        self.recompute = False
        self.characters = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                # What is added to the residual stream shrinks with the number of additions.
                additions = 2 * layers if name.endswith(("out.weight", "mlp.2.weight")) else 1
                nn.init.normal_(parameter, std=(width * additions) ** -0.5)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.characters(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            if self.recompute:
                x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
            else:
                x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits

    @torch.no_grad()
    def generate(self, tokens: Tensor, count: int, temperature: float = 0.8) -> Tensor:
        """Appends `count` sampled characters to each row of `tokens`."""
        for _ in range(count):
            logits = self(tokens[:, -self.context :])[:, -1] / temperature
            # The largest of logits plus Gumbel noise is a sample of their softmax.
            noise = -torch.log(-torch.log(torch.rand(logits.shape).clamp(1e-9, 1 - 1e-6)))
            tokens = torch.cat([tokens, (logits + noise).argmax(dim=-1, keepdim=True)], dim=1)
        return tokens


def encode(text: str) -> tuple[list[str], Tensor]:
    """The different characters of a text, and the text as indices into them."""
    letters = sorted(set(text))
    index = {letter: i for i, letter in enumerate(letters)}
    return letters, torch.tensor([index[letter] for letter in text])


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def draw(data: Tensor, batch: int, context: int) -> tuple[Tensor, Tensor]:
    """Random windows of `data`, and the same windows one character later."""
    starts = torch.randint(len(data) - context, (batch, 1))
    windows = data[starts + torch.arange(context + 1)]
    return windows[:, :-1], windows[:, 1:]


def train(
    model: GPT, data: Tensor, steps: int, batch: int = 12, rate: float = 4e-3, compile: bool = False
) -> Iterator[float]:
    """Trains `model` in place and yields the loss of each step; `compile` runs steps as a program of NumPy's calls."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.1)
    model.train()

    def update(tokens: Tensor, targets: Tensor) -> Tensor:
        loss = loss_of(model(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    if compile:
        update = torch.compile(update)
    for step in range(steps):
        warm, left = (step + 1) / (0.05 * steps + 1), 1 - step / steps
        optimizer.param_groups[0]["lr"] = rate * min(1.0, warm, 0.05 + left / 0.7)
        yield update(*draw(data, batch, model.context)).item()


def main(file: str, steps: int = 300) -> None:
    torch.manual_seed(0)
    letters, data = encode(Path(file).read_text(encoding="utf-8"))
    model = GPT(len(letters))
    for step, loss in enumerate(train(model, data, steps)):
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:4}  loss {loss:.3f}")
    print("".join(letters[i] for i in model.generate(data[None, :8], 400)[0].tolist()))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else __file__, *map(int, sys.argv[2:]))
