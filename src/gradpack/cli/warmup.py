"""The `warmup` command: compile the loops that ordinary training runs on large arrays, and keep them on disk."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

from .problem import Problem

_ELEMENTWISE = (
    "leaky_relu elu selu celu gelu silu mish softplus softsign hardswish hardsigmoid logsigmoid tanhshrink glu"
).split()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print nothing but the last line")


def run(args: argparse.Namespace) -> int:
    from ..backends import compiled
    from ..kernels.compilation import NOTICE, cache_folder
    from ..kernels.dispatch import libraries

    if not compiled.is_available():
        raise Problem("warmup: Numba is not installed: pip install 'gradpack[compiled]'")
    from ..kernels.numba.machine_code import COUNTS

    begun, before = perf_counter(), dict(COUNTS)
    NOTICE.on = False  # this command says itself what takes long
    try:
        with libraries(numba=True):
            for name, step in _steps():
                if not args.quiet:
                    print(f"{name} ...", flush=True)
                step()
    finally:
        NOTICE.on = True
    made, read = (COUNTS[key] - before[key] for key in ("compiled", "read"))
    print(f"{made} loops compiled, {read} found, {perf_counter() - begun:.1f} s, in {cache_folder()}")
    return 0


def _steps() -> list[tuple[str, Callable[[], Any]]]:
    """Return small programs, forward and backward, with arrays just large enough for loops."""
    import gradpack as torch

    nn, F = torch.nn, torch.nn.functional

    def backward(run: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[], Any]:
        def step() -> None:
            for dtype in (torch.float32, torch.float64):
                leaves = [torch.rand(shape, dtype=dtype).requires_grad_() for shape in shapes]
                run(*leaves).sum().backward()

        return step

    def layer(kind: Any, *args: Any, **options: Any) -> Callable[[Any], Any]:
        return lambda x: kind(*args, dtype=x.dtype, **options)(x)

    wide, image = (256, 256), (8, 16, 32, 32)
    targets, places = torch.randint(0, 256, (256,)), torch.randint(0, 512, (1024,))
    return [
        *((name, backward(getattr(F, name), (256, 512))) for name in _ELEMENTWISE),
        ("softmax", backward(lambda x: F.softmax(x, -1) * F.log_softmax(x, -1), wide)),
        ("cross_entropy", backward(lambda x: F.cross_entropy(x, targets), wide)),
        ("losses", backward(lambda x, y: F.binary_cross_entropy(x, y) + F.smooth_l1_loss(x, y), wide, wide)),
        ("dropout", backward(F.dropout, wide)),
        ("layer_norm", backward(layer(nn.LayerNorm, 256), wide)),
        ("batch_norm", backward(layer(nn.BatchNorm2d, 16), image)),
        ("group_norm", backward(layer(nn.GroupNorm, 4, 16), image)),
        ("conv2d", backward(layer(nn.Conv2d, 16, 16, 3, padding=1), image)),
        ("max_pool2d", backward(lambda x: F.max_pool2d(x, 2), image)),
        ("embedding", backward(lambda w: F.embedding(places, w), (512, 128))),
        ("attention", backward(lambda *a: F.scaled_dot_product_attention(*a), *[(4, 4, 64, 64)] * 3)),
    ]
