"""What is timed. Each workload is written once against torch's API and takes the library as argument.

`build(torch)` prepares one and returns a Job. Its `step` is what the clock sees. One call of `step`
on a fresh Job, followed by `results()`, gives the values by which libraries are compared before
they are timed. Inputs come from NumPy with a fixed seed, so all libraries get the same numbers.

Peers do not have torch's API: their chains are written in their own idiom at the end of the file.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import load

# What a library calls its own: the libraries have no common types.
Library = Any
Array = np.ndarray[Any, Any]
Tensor = Any
Model = Any

ROOT = Path(__file__).resolve().parent.parent
OPS = 500  # in every chain


class Job(NamedTuple):
    """A prepared workload: `step` returns what it computed, `results` the gradients or weights."""

    step: Callable[[], Tensor]
    results: Callable[[], list[Tensor]]


class Workload(NamedTuple):
    """One row of the table. `per` counts the operations in a step; the bar is a ratio to torch."""

    name: str
    what: str
    build: Callable[[Library], Job]
    per: int = 1
    bar: float | None = None
    peer: str | None = None  # the function at the end of this file that names the same computation


# --- chains: the tape's own cost, on arrays so small that arithmetic hardly counts ---


def vectors(count: int) -> Iterator[Array]:
    """Factors near one and summands near zero: a chain of 500 neither overflows nor vanishes."""
    rng = np.random.default_rng(0)
    for centre in (0.5, 1.0, 0.0)[:count]:
        yield (centre + rng.uniform(-1e-3, 1e-3, 10)).astype(np.float32)


def identity(tensor: Tensor) -> Tensor:
    return tensor


def affine(torch: Library, parameters: bool = False, hooks: bool = False) -> Job:
    """`x = x * b + a`, 250 times, and back; with `parameters`, a and b ask for a gradient too."""
    x, b, a = (torch.tensor(v) for v in vectors(3))
    leaves = [x, b, a] if parameters else [x]
    for leaf in leaves:
        leaf.requires_grad_()
    seed = torch.ones(10)
    saving = torch.autograd.graph.saved_tensors_hooks if hooks else nullcontext
    arguments = (identity, identity) if hooks else ()

    def step() -> Tensor:
        for leaf in leaves:
            leaf.grad = None
        y = x
        with saving(*arguments):
            for _ in range(OPS // 2):
                y = y * b + a
        y.backward(seed)
        return y

    return Job(step, lambda: [leaf.grad for leaf in leaves])


def affine_no_grad(torch: Library) -> Job:
    """The forward of `affine` under `no_grad`, with an input that asks for a gradient."""
    x, b, a = (torch.tensor(v) for v in vectors(3))
    x.requires_grad_()

    def step() -> Tensor:
        y = x
        with torch.no_grad():
            for _ in range(OPS // 2):
                y = y * b + a
        return y

    return Job(step, list)


def scalar(torch: Library) -> Job:
    """`x = x * 1.0001 + 0.5`, 250 times, and back."""
    (x,) = (torch.tensor(v, requires_grad=True) for v in vectors(1))
    seed = torch.ones(10)

    def step() -> Tensor:
        x.grad = None
        y = x
        for _ in range(OPS // 2):
            y = y * 1.0001 + 0.5
        y.backward(seed)
        return y

    return Job(step, lambda: [x.grad])


def sine(torch: Library) -> Job:
    """`x = sin(x)`, 500 times, and back."""
    (x,) = (torch.tensor(v, requires_grad=True) for v in vectors(1))
    seed = torch.ones(10)

    def step() -> Tensor:
        x.grad = None
        y = x
        for _ in range(OPS):
            y = torch.sin(y)
        y.backward(seed)
        return y

    return Job(step, lambda: [x.grad])


def rotation() -> tuple[Array, Array]:
    """Two 10x10 matrices, the second orthogonal, so that its 500th power keeps its size."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 10, 10))
    return x.astype(np.float32), np.linalg.qr(w)[0].astype(np.float32)


def matmul(torch: Library) -> Job:
    """`x = x @ w` on 10x10, 500 times, and back to both."""
    x, w = (torch.tensor(v, requires_grad=True) for v in rotation())
    seed = torch.ones(10, 10)

    def step() -> Tensor:
        x.grad = w.grad = None
        y = x
        for _ in range(OPS):
            y = y @ w
        y.backward(seed)
        return y

    return Job(step, lambda: [x.grad, w.grad])


# --- training steps ---


def set_weights(torch: Library, model: Model) -> None:
    """Fill a model with weights that depend on names and shapes only: near one for scales, small else."""
    rng = np.random.default_rng(0)
    state = model.state_dict()
    for name, parameter in model.named_parameters():
        shape = tuple(parameter.shape)
        centre = 1.0 if name.endswith("weight") and len(shape) == 1 else 0.0
        width = 0.02 if len(shape) == 1 else shape[-1] ** -0.5
        state[name] = torch.tensor(rng.normal(centre, width, shape).astype(np.float32))
    model.load_state_dict(state)


def mlp(torch: Library, activation: str) -> Job:
    """One SGD step of a 16-32-32-1 network on a batch of 32."""
    nn = torch.nn
    act = getattr(nn, activation)
    model = nn.Sequential(nn.Linear(16, 32), act(), nn.Linear(32, 32), act(), nn.Linear(32, 1))
    set_weights(torch, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    mse_loss = nn.functional.mse_loss
    rng = np.random.default_rng(1)
    inputs = torch.tensor(rng.normal(size=(32, 16)).astype(np.float32))
    targets = torch.tensor(rng.normal(size=(32, 1)).astype(np.float32))

    def step() -> Tensor:
        optimizer.zero_grad()
        loss = mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        return loss

    def results() -> list[Tensor]:
        return [value for p in model.parameters() for value in (p.grad, p)]

    return Job(step, results)


def demo() -> tuple[Namespace, Array]:
    """The sizes of `gradpack demo`, and a batch of its text: character numbers (batch, context + 1)."""
    from gradpack.cli.demo import add_arguments
    from gradpack.cli.demo import load as load_text

    parser = ArgumentParser()
    add_arguments(parser)
    sizes = parser.parse_args([])
    _, numbers = np.unique(list(load_text(None)), return_inverse=True)
    sizes.letters = int(numbers.max()) + 1
    starts = np.random.default_rng(1).integers(0, len(numbers) - sizes.context, (sizes.batch, 1))
    return sizes, numbers[starts + np.arange(sizes.context + 1)].astype(np.int64)


def transformer(torch: Library) -> Job:
    """One step of the demo: the example's model at its sizes, cross entropy, clipping, AdamW."""
    sizes, windows = demo()
    gpt = load(ROOT / "src/gradpack/examples/gpt.py", f"gpt_on_{torch.__name__}", {"gradpack": torch.__name__})
    # No dropout, whatever the demo uses: random numbers differ from library to library.
    model = gpt.GPT(sizes.letters, sizes.context, sizes.width, sizes.heads, sizes.layers, dropout=0.0)
    set_weights(torch, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    clip = torch.nn.utils.clip_grad_norm_
    tokens, targets = torch.tensor(windows[:, :-1].copy()), torch.tensor(windows[:, 1:].copy())

    def step() -> Tensor:
        loss = gpt.loss_of(model(tokens), targets)
        optimizer.zero_grad()
        loss.backward()
        clip(model.parameters(), 1.0)
        optimizer.step()
        return loss

    # Gradients, not weights: Adam's first step is the sign of a gradient, and that of a zero is noise.
    return Job(step, lambda: [p.grad for p in model.parameters()])


WORKLOADS = (
    Workload("chain", "x = x*b + a, 10 float32; x needs a gradient", affine, OPS, 0.55, "affine"),
    Workload(
        "chain-params",
        "the same; a and b need one too",
        partial(affine, parameters=True),
        OPS,
        0.55,
        "affine_parameters",
    ),
    Workload("chain-hooks", "chain, identity saved_tensors_hooks", partial(affine, hooks=True), OPS, 0.65),
    Workload(
        "chain-params-hooks",
        "chain-params, identity saved_tensors_hooks",
        partial(affine, parameters=True, hooks=True),
        OPS,
        0.65,
    ),
    Workload("no-grad", "chain, forward only, under no_grad", affine_no_grad, OPS, 0.8),
    Workload("sin", "x = sin(x), 10 float32", sine, OPS, None, "sine"),
    Workload("scalar", "x = x*1.0001 + 0.5, 10 float32", scalar, OPS, None, "scalar"),
    Workload("matmul", "x = x @ w, 10x10; both need a gradient", matmul, OPS, None, "matmul"),
    Workload("mlp-tanh", "16-32-32-1, batch 32, tanh, SGD step", partial(mlp, activation="Tanh"), 1, 0.6),
    Workload("mlp-relu", "16-32-32-1, batch 32, relu, SGD step", partial(mlp, activation="ReLU"), 1, 0.6),
    Workload("transformer", "the demo's training step, at its sizes, AdamW", transformer, 1, 1.4),
)


# --- the chains of the peers ---


def hips_autograd(peer: str) -> Job:
    """HIPS autograd: a function of arrays, and `make_vjp` that traces it anew on each call."""
    anp: Library = import_module("autograd.numpy")
    make_vjp = import_module("autograd").make_vjp

    x, b, a = vectors(3)
    seed = np.ones(10, np.float32)
    inputs: tuple[Tensor, ...] = (x,)
    if peer == "affine_parameters":
        inputs = (x, b, a)
    if peer == "matmul":
        inputs, seed = rotation(), np.ones((10, 10), np.float32)

    def chain(y: Tensor, factor: Tensor = b, summand: Tensor = a) -> Tensor:
        for _ in range(OPS // 2):
            y = y * factor + summand
        return y

    def chain_scalar(y: Tensor) -> Tensor:
        for _ in range(OPS // 2):
            y = y * 1.0001 + 0.5
        return y

    def chain_sine(y: Tensor) -> Tensor:
        for _ in range(OPS):
            y = anp.sin(y)
        return y

    def chain_matmul(y: Tensor, w: Tensor) -> Tensor:
        for _ in range(OPS):
            y = y @ w
        return y

    function = {
        "affine": chain,
        "affine_parameters": chain,
        "scalar": chain_scalar,
        "sine": chain_sine,
        "matmul": chain_matmul,
    }[peer]
    trace = make_vjp(function, tuple(range(len(inputs))))
    gradients: list[Tensor] = []

    def step() -> Tensor:
        vjp, value = trace(*inputs)
        gradients[:] = vjp(seed)
        return value

    return Job(step, lambda: gradients)


def mygrad(peer: str) -> Job:
    """MyGrad: tensors that need a gradient unless they are arrays; `backward` clears the graph."""
    mg: Library = import_module("mygrad")

    x, b, a = vectors(3)
    seed = np.ones(10, np.float32)
    leaves = [mg.tensor(x)]
    if peer == "affine_parameters":
        leaves = [mg.tensor(v) for v in (x, b, a)]
    if peer == "matmul":
        leaves, seed = [mg.tensor(v) for v in rotation()], np.ones((10, 10), np.float32)

    def chain() -> Tensor:
        y, factor, summand = leaves if len(leaves) == 3 else (leaves[0], b, a)
        for _ in range(OPS // 2):
            y = y * factor + summand
        return y

    def chain_scalar() -> Tensor:
        y = leaves[0]
        for _ in range(OPS // 2):
            y = y * 1.0001 + 0.5
        return y

    def chain_sine() -> Tensor:
        y = leaves[0]
        for _ in range(OPS):
            y = mg.sin(y)
        return y

    def chain_matmul() -> Tensor:
        y, w = leaves
        for _ in range(OPS):
            y = y @ w
        return y

    function = {
        "affine": chain,
        "affine_parameters": chain,
        "scalar": chain_scalar,
        "sine": chain_sine,
        "matmul": chain_matmul,
    }[peer]

    def step() -> Tensor:
        y = function()
        y.backward(seed)
        return y.data

    return Job(step, lambda: [leaf.grad for leaf in leaves])


PEERS: dict[str, tuple[str, Callable[[str], Job]]] = {"HIPS": ("autograd", hips_autograd), "MyGrad": ("mygrad", mygrad)}
