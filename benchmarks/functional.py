"""Time derivatives of functions and per-sample gradients against torch, on one thread, in turns.

    python -m benchmarks.functional [--only NAME]... [--rounds N]

Every workload is the same text for both libraries, and values are compared before anything is timed.
A ratio below 1 means that gradpack takes less time. Bars: Hessian and Jacobian below 1, per-sample
gradients at most 1.2.
"""

import argparse
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

if not __package__:  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import harness

Step = Any
GPT = Path(__file__).resolve().parent.parent / "src" / "gradpack" / "examples" / "gpt.py"


def numbers(torch: ModuleType, *shape: int, seed: int = 0) -> Any:
    import numpy as np

    drawn = np.random.default_rng(seed).standard_normal(shape).astype("float32")
    return torch.from_numpy(drawn)


def hessian(torch: ModuleType) -> Step:
    """`autograd.functional.hessian` of a function of 50 numbers."""
    x, a = numbers(torch, 50), numbers(torch, 50, 50, seed=1)

    def f(x: Any) -> Any:
        return (torch.tanh(a @ x) * x).sum() + (x**4).sum()

    return lambda: torch.autograd.functional.hessian(f, x)


def hessian_vectorized(torch: ModuleType) -> Step:
    """The same with `vectorize=True`."""
    x, a = numbers(torch, 50), numbers(torch, 50, 50, seed=1)

    def f(x: Any) -> Any:
        return (torch.tanh(a @ x) * x).sum() + (x**4).sum()

    return lambda: torch.autograd.functional.hessian(f, x, vectorize=True)


def func_hessian(torch: ModuleType) -> Step:
    """`func.hessian` of the same function."""
    x, a = numbers(torch, 50), numbers(torch, 50, 50, seed=1)

    def f(x: Any) -> Any:
        return (torch.tanh(a @ x) * x).sum() + (x**4).sum()

    return lambda: torch.func.hessian(f)(x)


def network(torch: ModuleType) -> Any:
    """64 inputs, 64 hidden units, 64 outputs."""
    made = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64))
    with torch.no_grad():
        for i, p in enumerate(made.parameters()):
            p.copy_(numbers(torch, *p.shape, seed=i) * 0.1)
    return made


def jacobian(torch: ModuleType) -> Step:
    """`autograd.functional.jacobian` of a network."""
    model, x = network(torch), numbers(torch, 64)
    return lambda: torch.autograd.functional.jacobian(model, x)


def jacobian_vectorized(torch: ModuleType) -> Step:
    """The same with `vectorize=True`."""
    model, x = network(torch), numbers(torch, 64)
    return lambda: torch.autograd.functional.jacobian(model, x, vectorize=True)


def jacrev(torch: ModuleType) -> Step:
    """`func.jacrev` of the network."""
    model, x = network(torch), numbers(torch, 64)
    return lambda: torch.func.jacrev(model)(x)


def jacfwd(torch: ModuleType) -> Step:
    """`func.jacfwd` of the network."""
    model, x = network(torch), numbers(torch, 64)
    return lambda: torch.func.jacfwd(model)(x)


def grad(torch: ModuleType) -> Step:
    """`func.grad` of the loss of the network by its parameters."""
    model, x, t = network(torch), numbers(torch, 32, 64), numbers(torch, 32, 64, seed=9)
    params = {k: p.detach() for k, p in model.named_parameters()}

    def loss(params: Any) -> Any:
        return ((torch.func.functional_call(model, params, (x,)) - t) ** 2).mean()

    return lambda: tuple(torch.func.grad(loss)(params).values())


def per_sample_mlp(torch: ModuleType) -> Step:
    """Gradients of each of 64 examples, of the network."""
    model, x, t = network(torch), numbers(torch, 64, 64), numbers(torch, 64, 64, seed=9)
    params = {k: p.detach() for k, p in model.named_parameters()}

    def loss(params: Any, x: Any, t: Any) -> Any:
        out = torch.func.functional_call(model, params, (x.unsqueeze(0),))
        return ((out - t.unsqueeze(0)) ** 2).mean()

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: tuple(each(params, x, t).values())


def per_sample_transformer(torch: ModuleType) -> Step:
    """Gradients of each of 8 sequences, of the demo's transformer."""
    importlib.import_module(f"{torch.__name__}.func")
    module = harness.load(GPT, f"gpt_of_{torch.__name__}", {"gradpack": torch.__name__})
    model = module.GPT(40, context=32, width=64, heads=4, layers=2)
    model.eval()
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(torch, *p.shape, seed=i) * 0.05)
    tokens = (numbers(torch, 8, 33, seed=3).abs() * 10).long() % 40
    params = {k: p.detach() for k, p in model.named_parameters()}

    def loss(params: Any, x: Any, t: Any) -> Any:
        return module.loss_of(torch.func.functional_call(model, params, (x.unsqueeze(0),)), t.unsqueeze(0))

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: tuple(each(params, tokens[:, :-1], tokens[:, 1:]).values())


def per_sample_convolution(torch: ModuleType) -> Step:
    """Gradients of each of 16 images, of a small convolutional network."""
    nn = torch.nn
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(512, 10))
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(torch, *p.shape, seed=i) * 0.1)
    x, t = numbers(torch, 16, 3, 16, 16), (numbers(torch, 16, seed=3).abs() * 10).long() % 10
    params = {k: p.detach() for k, p in model.named_parameters()}

    def loss(params: Any, x: Any, t: Any) -> Any:
        out = torch.func.functional_call(model, params, (x.unsqueeze(0),))
        return nn.functional.cross_entropy(out, t.unsqueeze(0))

    each = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: tuple(each(params, x, t).values())


WORKLOADS = {
    f.__name__: f
    for f in (
        hessian,
        hessian_vectorized,
        func_hessian,
        jacobian,
        jacobian_vectorized,
        jacrev,
        jacfwd,
        grad,
        per_sample_mlp,
        per_sample_transformer,
        per_sample_convolution,
    )
}
BARS = {"hessian": 1.0, "jacobian": 1.0} | {name: 1.2 for name in WORKLOADS if name.startswith("per_sample")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(WORKLOADS))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    harness.pin_threads()
    torch, own = importlib.import_module("torch"), importlib.import_module("gradpack")
    importlib.import_module("torch.func")
    torch.set_num_threads(1)
    own.set_num_threads(1)
    print(f"{'workload':24} {'torch ms':>9} {'own ms':>9} {'ratio':>6}  quartiles    bar")
    for name in options.only or WORKLOADS:
        steps = {"torch": WORKLOADS[name](torch), "gradpack": WORKLOADS[name](own)}
        check(name, *[step() for step in steps.values()])
        timings = harness.compare(steps, options.rounds)
        found = harness.spread(timings["gradpack"], timings["torch"])
        bar = BARS.get(name)
        print(
            f"{name:24} {1e3 * timings['torch'].median:9.3f} {1e3 * timings['gradpack'].median:9.3f} "
            f"{found.median:6.2f}  {found.low:.2f}-{found.high:.2f}"
            + ("" if bar is None else f"    {bar:.1f} {'ok' if found.median <= bar else 'MISSED'}"),
            flush=True,
        )
    return 0


def check(name: str, theirs: Any, ours: Any) -> None:
    """Raise unless both libraries computed the same."""
    import numpy as np

    pairs = zip(theirs, ours, strict=True) if isinstance(theirs, tuple) else [(theirs, ours)]
    for a, b in pairs:
        a, b = a.detach().numpy(), b.detach().numpy()
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-5):
            raise AssertionError(f"{name}: the libraries differ: {a.shape} and {b.shape}, {abs(a - b).max()}")


if __name__ == "__main__":
    sys.exit(main())
