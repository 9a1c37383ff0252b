"""The training steps that `benchmarks.steps` times, written once against torch's API.

Each function takes the library and returns the step: a call without arguments, which returns what libraries are
compared by before anything is timed (a tensor, or several). Inputs come from NumPy with a fixed seed.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

Library = Any
Step = Callable[[], Any]
OPS = 500


def numbers(torch: Library, *shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    drawn = np.random.default_rng(seed).standard_normal(shape) * scale
    return torch.tensor(drawn.astype(np.float32))


def filled(torch: Library, model: Any) -> Any:
    """Give a model the same weights in every library."""
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(torch, *p.shape, seed=i, scale=0.05 if p.ndim > 1 else 0.01))
    return model


def _training(torch: Library, model: Any, loss_of: Callable[[], Any], optimizer: Any) -> Step:
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss

    return step


# -- transformers --


def _gpt(
    torch: Library, layers: int, width: int, length: int, batch: int, fused: bool
) -> tuple[Any, Callable[[], Any]]:
    nn, F = torch.nn, torch.nn.functional
    heads, vocabulary = 4, 65

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def attend(self, x: Any) -> Any:
            b, t, _ = x.shape
            q, k, v = (y.view(b, t, heads, -1).transpose(1, 2) for y in self.qkv(x).split(width, dim=2))
            if fused:
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                scores = (q @ k.transpose(-2, -1)) * (width // heads) ** -0.5
                y = torch.softmax(scores.masked_fill(self.mask, float("-inf")), dim=-1) @ v
            return self.out(y.transpose(1, 2).reshape(b, t, width))

        def forward(self, x: Any) -> Any:
            x = x + self.attend(norm(self.first, x))
            h = self.up(norm(self.second, x))
            h = F.gelu(h) if fused else 0.5 * h * (1 + torch.tanh(0.7978845608 * (h + 0.044715 * h * h * h)))
            return x + self.down(h)

    def norm(layer: Any, x: Any) -> Any:
        if fused:
            return layer(x)
        mean = x.mean(-1, keepdim=True)
        y = x - mean
        return y / torch.sqrt((y * y).mean(-1, keepdim=True) + 1e-5) * layer.weight + layer.bias

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

        def forward(self, x: Any) -> Any:
            y = self.token(x) + self.place(torch.arange(x.shape[1]))
            for block in self.blocks:
                y = block(y)
            return self.head(norm(self.norm, y))

    Block.mask = torch.ones(length, length, dtype=torch.bool).triu(1)
    model = filled(torch, Net())
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
    r = np.random.default_rng(1)
    x, y = (torch.tensor(r.integers(0, vocabulary, (batch, length))) for _ in range(2))

    def loss_of() -> Any:
        out = model(x).reshape(-1, vocabulary)
        if fused:
            return F.cross_entropy(out, y.reshape(-1))
        return -torch.log_softmax(out, -1).gather(1, y.reshape(-1, 1)).mean()

    return model, loss_of


def gpt_elementary(torch: Library) -> Step:
    """GPT 4 layers of width 128, 8 sequences of 128, of elementary operations, SGD."""
    model, loss_of = _gpt(torch, 4, 128, 128, 8, fused=False)
    return _training(torch, model, loss_of, torch.optim.SGD(model.parameters(), lr=0.01))


def gpt_hooks(torch: Library) -> Step:
    """The same under identity saved-tensor hooks."""
    model, loss_of = _gpt(torch, 4, 128, 128, 8, fused=False)

    def hooked() -> Any:
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return loss_of()

    return _training(torch, model, hooked, torch.optim.SGD(model.parameters(), lr=0.01))


def gpt_fused(torch: Library) -> Step:
    """The same of fused operations, AdamW."""
    model, loss_of = _gpt(torch, 4, 128, 128, 8, fused=True)
    return _training(torch, model, loss_of, torch.optim.AdamW(model.parameters(), lr=1e-3))


def gpt_wide(torch: Library) -> Step:
    """GPT 6 layers of width 256, fused operations, AdamW."""
    model, loss_of = _gpt(torch, 6, 256, 128, 8, fused=True)
    return _training(torch, model, loss_of, torch.optim.AdamW(model.parameters(), lr=1e-3))


# -- other networks --


def convolution(torch: Library) -> Step:
    """Two 3x3 convolutions with pools and a linear layer, 64 images of 28x28, SGD."""
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 49, 10),
    )  # fmt: skip
    model = filled(torch, model)
    x, y = numbers(torch, 64, 1, 28, 28), torch.tensor(np.random.default_rng(1).integers(0, 10, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    return _training(torch, model, lambda: nn.functional.cross_entropy(model(x), y), optimizer)


def _mlp(torch: Library, sizes: tuple[int, ...], batch: int, optimizer: str) -> Step:
    nn = torch.nn
    layers = [m for a, b in pairwise(sizes) for m in (nn.Linear(a, b), nn.Tanh())][:-1]
    model = filled(torch, nn.Sequential(*layers))
    x, y = numbers(torch, batch, sizes[0]), numbers(torch, batch, sizes[-1], seed=1)
    made = getattr(torch.optim, optimizer)(model.parameters(), lr=1e-3)
    return _training(torch, model, lambda: ((model(x) - y) ** 2).mean(), made)


def mlp_tiny(torch: Library) -> Step:
    """MLP 16-32-32-1, batch 32, SGD."""
    return _mlp(torch, (16, 32, 32, 1), 32, "SGD")


def mlp_adam(torch: Library) -> Step:
    """MLP 64-256-256-10, batch 64, Adam."""
    return _mlp(torch, (64, 256, 256, 10), 64, "Adam")


def lstm(torch: Library) -> Step:
    """An LSTM cell by cell: 64 steps, batch 32, width 64."""
    cell = filled(torch, torch.nn.LSTMCell(32, 64))
    x = numbers(torch, 64, 32, 32)

    def loss_of() -> Any:
        h = c = torch.zeros(32, 64)
        for t in range(64):
            h, c = cell(x[t], (h, c))
        return (h * h).mean()

    return _training(torch, cell, loss_of, torch.optim.SGD(cell.parameters(), lr=0.01))


def logistic(torch: Library) -> Step:
    """Logistic regression, 100,000 x 50."""
    x, w = numbers(torch, 100_000, 50), torch.zeros(50, requires_grad=True)
    y = (x[:, 0] > 0).to(torch.float32)

    def step() -> Any:
        w.grad = None
        torch.nn.functional.binary_cross_entropy_with_logits(x @ w, y).backward()
        with torch.no_grad():
            w.sub_(w.grad * 0.1)
        return w.grad

    return step


def neural_ode(torch: Library) -> Step:
    """A neural ODE: 20 steps of RK4, batch 16."""
    net = filled(torch, torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2)))
    x, y, dt = numbers(torch, 16, 2), numbers(torch, 16, 2, seed=1), 0.05

    def loss_of() -> Any:
        z = x
        for _ in range(20):
            k1 = net(z)
            k2 = net(z + dt / 2 * k1)
            k3 = net(z + dt / 2 * k2)
            k4 = net(z + dt * k3)
            z = z + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return ((z - y) ** 2).mean()

    return _training(torch, net, loss_of, torch.optim.SGD(net.parameters(), lr=0.01))


# -- small tensors, and functions of functions --


def chain(torch: Library) -> Step:
    """500 operations on ten numbers."""
    x, b, a = (numbers(torch, 10, seed=i, scale=1e-3) + c for i, c in enumerate((0.5, 1.0, 0.0)))
    x.requires_grad_()

    def step() -> Any:
        x.grad = None
        y = x
        for _ in range(OPS // 2):
            y = y * b + a
        y.sum().backward()
        return x.grad

    return step


def deep(torch: Library) -> Step:
    """A graph 100,000 deep."""
    x = torch.ones(1, requires_grad=True)

    def step() -> Any:
        x.grad = None
        y = x
        for _ in range(100_000):
            y = y * 1.0
        y.sum().backward()
        return x.grad

    return step


def functions(torch: Library) -> Step:
    """1,000 calls of a custom Function on small tensors."""

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, w = ctx.saved_tensors
            return g * w, g * x

    x, w = torch.ones(10, requires_grad=True), torch.ones(10, requires_grad=True)

    def step() -> Any:
        x.grad = w.grad = None
        y = x
        for _ in range(1000):
            y = Scaled.apply(y, w)
        y.sum().backward()
        return w.grad

    return step


def hessian(torch: Library) -> Step:
    """The Hessian of Rosenbrock's function of 10 variables."""
    x = numbers(torch, 10)

    def rosenbrock(x: Any) -> Any:
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    return lambda: torch.autograd.functional.hessian(rosenbrock, x, vectorize=True)


def jacobian(torch: Library) -> Step:
    """The Jacobian of a network of 10 inputs and outputs."""
    net = filled(torch, torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 10)))
    x = numbers(torch, 10)
    return lambda: torch.autograd.functional.jacobian(net, x)


def jvp(torch: Library) -> Step:
    """A Jacobian-vector product by forward mode, through 50 operations."""
    x, v = numbers(torch, 100), numbers(torch, 100, seed=1)

    def f(x: Any) -> Any:
        for _ in range(25):
            x = torch.sin(x) * 1.1
        return x

    return lambda: torch.func.jvp(f, (x,), (v,))


def gradcheck(torch: Library) -> Step:
    """gradcheck of a function of two 3x4 matrices."""
    a, b = (numbers(torch, 3, 4, seed=i).double().requires_grad_() for i in range(2))
    return lambda: torch.tensor(float(torch.autograd.gradcheck(lambda a, b: torch.tanh(a * b).sum(0), (a, b))))


def elementwise(torch: Library) -> Step:
    """A chain of elementwise operations on five million numbers."""
    x = numbers(torch, 5_000_000).requires_grad_()

    def step() -> Any:
        x.grad = None
        y = torch.exp(-x * x) * torch.sin(x) + torch.sqrt(x * x + 1)
        (y * y).sum().backward()
        return x.grad

    return step


STEPS: dict[str, Callable[[Library], Step]] = {
    f.__name__: f
    for f in (
        gpt_elementary, gpt_hooks, gpt_fused, gpt_wide, convolution, mlp_tiny, mlp_adam, lstm, logistic, neural_ode,
        chain, deep, functions, hessian, jacobian, jvp, gradcheck, elementwise,
    )
}  # fmt: skip
