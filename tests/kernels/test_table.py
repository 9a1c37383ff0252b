"""Every kernel of the table against the function that it stands in for, on arguments that programs call it with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradpack as torch
from gradpack.kernels import dispatch
from gradpack.kernels.dispatch import ENABLED, libraries, loaded
from gradpack.kernels.table import TABLE, Kernel
from gradpack.nn import functional as F

LIBRARIES = ("numba", "scipy", "blocks")
EACH = 3  # calls of a kernel that are tried


def normal(*shape: int, seed: int = 0) -> Any:
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return torch.tensor(values, requires_grad=True)


def whole(most: int, *shape: int) -> Any:
    return torch.tensor(np.random.default_rng(1).integers(0, most, shape))


def _twice(function: Callable[..., Any], x: Any) -> Any:
    return torch.autograd.grad(function(x).sum(), x, create_graph=True)[0]


def _quantized() -> Any:
    x = normal(256, 512)
    with torch.saved.quantize(8, min_bytes=0):
        return (x * x).sum()


def _adam(kind: str = "Adam", **options: Any) -> Any:
    x = normal(*ROWS)
    optimizer = getattr(torch.optim, kind)([x], **options)
    for seed in (1, 2):
        x.grad = normal(*ROWS, seed=seed).detach()
        optimizer.step()
    return x.detach()


ROWS, VECTOR, IMAGES = (300, 256), (256,), (8, 8, 40, 40)
PROGRAMS: dict[str, Callable[[], Any]] = {
    "layer_norm": lambda: F.layer_norm(normal(*ROWS), VECTOR, normal(*VECTOR), normal(*VECTOR)),
    "product": lambda: normal(200, 300) @ normal(300, 200),
    "contiguous": lambda: normal(300, 400).T.contiguous(),
    "reshape": lambda: normal(300, 400).T.reshape(-1),
    "cat": lambda: torch.cat([normal(200, 300), normal(200, 90), normal(200, 300)], 1),
    "channels_last": lambda: normal(2, 8, 90, 80).to(memory_format=torch.channels_last),
    "product with a vector": lambda: normal(10_000, 60) @ normal(60),
    "linear": lambda: F.linear(normal(*ROWS), normal(200, 256), normal(200)),
    "sums": lambda: normal(1200, 120).sum(1)[:120] + normal(1200, 120).sum(0),
    "sums of gradients of what was broadcast": lambda: normal(1200, 120) * normal(1200, 1) * normal(120),
    "sum of gradients": lambda: sum(f(y) for y in [normal(600, 512) * 2] for f in (torch.sin, torch.cos)),
    "sum with a mean": lambda: sum(z.sum() for y in [normal(600, 512) * 2] for z in (y.mean(1), y.sin())),
    "layer_norm alone": lambda: F.layer_norm(normal(*ROWS), VECTOR),
    "batch_norm": lambda: F.batch_norm(normal(*IMAGES), None, None, normal(8), normal(8), training=True),
    "group_norm": lambda: F.group_norm(normal(*IMAGES), 2, normal(8), normal(8)),
    "group_norm alone": lambda: F.group_norm(normal(*IMAGES), 4),
    "attention": lambda: F.scaled_dot_product_attention(*(normal(4, 300, 64, seed=s) for s in range(3))),
    "causal attention": lambda: F.scaled_dot_product_attention(
        *(normal(4, 300, 64, seed=s) for s in range(3)), is_causal=True
    ),
    "masked attention": lambda: F.scaled_dot_product_attention(
        *(normal(4, 300, 64, seed=s) for s in range(3)), torch.rand(300, 300)
    ),
    "lstm": lambda: torch.lstm_cell(
        normal(200, 40), (normal(200, 50), normal(200, 50, seed=1)), normal(200, 40) * 0.1, normal(200, 50) * 0.1
    )[0],
    "dropout": lambda: torch.softmax(F.dropout(normal(*ROWS), 0.5), 1),
    "huber": lambda: F.huber_loss(normal(*ROWS), normal(*ROWS, seed=1)),
    "smooth_l1": lambda: F.smooth_l1_loss(normal(*ROWS), normal(*ROWS, seed=1)),
    "interpolate": lambda: F.interpolate(normal(*IMAGES), scale_factor=2, mode="bilinear"),
    "interpolate cubic": lambda: F.interpolate(normal(2, 3, 300, 300), scale_factor=1.5, mode="bicubic"),
    "reflect": lambda: F.pad(normal(*IMAGES), (1, 2, 3, 0), mode="reflect"),
    "circular": lambda: F.pad(normal(8, 100, 80), (3, 2), mode="circular"),
    "grid_sample": lambda: F.grid_sample(
        normal(*IMAGES), torch.rand(8, 40, 40, 2, requires_grad=True) * 2 - 1, align_corners=False
    ),
    "erf": lambda: torch.erf(normal(*ROWS)),
    "erfc": lambda: torch.erfc(normal(*ROWS)),
    "softmax": lambda: torch.softmax(normal(*ROWS), 1),
    "log_softmax": lambda: torch.log_softmax(normal(*ROWS), 1),
    "erfinv": lambda: torch.erfinv(torch.tanh(normal(*ROWS))),
    "lgamma": lambda: torch.lgamma(normal(*ROWS)),
    "trigamma": lambda: torch.polygamma(1, normal(*ROWS)),
    "gelu": lambda: F.gelu(normal(*ROWS)),
    "gelu twice": lambda: _twice(F.gelu, normal(*ROWS)),
    "gelu by tanh": lambda: F.gelu(normal(*ROWS), approximate="tanh"),
    "gelu by tanh twice": lambda: _twice(lambda x: F.gelu(x, approximate="tanh"), normal(*ROWS)),
    "remainder": lambda: torch.remainder(normal(*ROWS), normal(*ROWS, seed=1)),
    "remainder of a number": lambda: torch.remainder(normal(*ROWS), 0.3),
    "fmod": lambda: torch.fmod(normal(*ROWS), normal(*ROWS, seed=1)),
    "glu": lambda: F.glu(normal(*ROWS), 1),
    "prelu": lambda: F.prelu(normal(*IMAGES), normal(8)),
    "conv2d": lambda: F.conv2d(normal(*IMAGES), normal(8, 8, 3, 3), normal(8), stride=2, padding=1),
    "conv2d in rows": lambda: F.conv2d(normal(*IMAGES), normal(8, 8, 5, 5), normal(8), padding=2),
    "conv1d": lambda: F.conv1d(normal(4, 8, 2000), normal(6, 8, 5)),
    "max_pool2d": lambda: F.max_pool2d(normal(*IMAGES), 3, 1),
    "relu and max_pool2d": lambda: F.max_pool2d(torch.relu(normal(*IMAGES)), 2),
    "cumsum": lambda: normal(*ROWS).cumsum(1),
    "cumprod": lambda: (normal(*ROWS) * 0.1 + 1).cumprod(1),
    "cummax": lambda: normal(*ROWS).cummax(1).values,
    "cummin": lambda: normal(*ROWS).cummin(1).values,
    "prod": lambda: (normal(*ROWS) * 0.1 + 1).prod(1),
    "gather": lambda: normal(*ROWS).gather(1, whole(256, *ROWS)),
    "scatter": lambda: normal(*ROWS).scatter(1, whole(256, *ROWS), normal(*ROWS, seed=1)),
    "histc": lambda: torch.histc(normal(*ROWS), 40, -3, 3),
    "topk": lambda: normal(*ROWS).topk(3, 1).values,
    "put": lambda: torch.zeros(1000).index_add(0, whole(1000, 70_000), normal(70_000)),
    "index_add": lambda: normal(1000, 80).index_add(0, whole(1000, 1000), normal(1000, 80)),
    "index_reduce": lambda: normal(1000, 80).index_reduce(0, whole(1000, 1000), normal(1000, 80, seed=1), "amax"),
    "embedding_bag": lambda: F.embedding_bag(whole(600, 500, 4), normal(600, 80), mode="sum"),
    "half": lambda: normal(*ROWS).half(),
    "bfloat16": lambda: normal(*ROWS).bfloat16(),
    "quantize": _quantized,
    "masked_fill": lambda: normal(4, 100, 100).masked_fill(torch.ones(100, 100).triu(1) > 0, -1.5),
    "masked_fill of one shape": lambda: normal(*ROWS).masked_fill(normal(*ROWS, seed=1) > 0, float("-inf")),
    "sgd": lambda: _adam("SGD", lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "sgd alone": lambda: _adam("SGD", lr=0.1),
    "adam": lambda: _adam(),
    "adam with all options": lambda: _adam(lr=0.1, weight_decay=0.1, amsgrad=True, maximize=True, betas=(0.4, 0.9)),
    "adamw": lambda: _adam(weight_decay=0.1, decoupled_weight_decay=True),
}  # fmt: skip


def run(name: str) -> None:
    with np.errstate(all="ignore"):
        torch.manual_seed(0)
        out = PROGRAMS[name]()
        if out.requires_grad:
            out.backward(torch.ones_like(out))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def found_of(kernel: Kernel) -> Callable[..., Any]:
    function = loaded(kernel)
    assert function is not None
    return function


def copied(args: Any) -> Any:
    """Arguments with arrays of their own, but for those that repeat one row, which kernels read only."""
    if isinstance(args, tuple | list):
        return type(args)([copied(a) for a in args]) if type(args) in (tuple, list) else args
    return args.copy("K") if isinstance(args, np.ndarray) and 0 not in args.strides else args


@cache
def calls(library: str) -> dict[Kernel, list[tuple[Any, ...]]]:
    """The arguments of calls of each kernel of a library, from all programs."""
    found: dict[Kernel, list[tuple[Any, ...]]] = {}

    def noting(kernel: Kernel) -> Any:
        function = found_of(kernel)

        def call(*args: Any) -> Any:
            known = found.setdefault(kernel, [])
            kept = copied(args) if len(known) < EACH else None
            made = function(*args)
            if kept is not None and made is not NotImplemented:
                known.append(kept)
            return made

        return call

    with pytest.MonkeyPatch.context() as patch, libraries(numba=library == "numba", scipy=library == "scipy"):
        patch.setattr(dispatch, "loaded", noting)
        for name in PROGRAMS:
            run(name)
    return found


def arrays(values: Any) -> list[np.ndarray]:
    if isinstance(values, tuple | list):
        return [a for v in values for a in arrays(v)]
    return [np.asarray(values)] if isinstance(values, np.ndarray | np.generic) else []


@pytest.mark.parametrize(
    ("path", "kernel"), [pytest.param(p, k, id=f"{p}-{k.library}") for p, ks in TABLE.items() for k in ks]
)
def test_a_kernel_computes_its_function(path: str, kernel: Kernel) -> None:
    if kernel.library != "blocks":
        pytest.importorskip(kernel.library)
    module, _, name = path.rpartition(".")
    reference = getattr(import_module(f"gradpack.{module}"), name).reference
    tried = calls(kernel.library).get(kernel)
    assert tried, "no program calls it: add one above"
    for args in tried:
        others = copied(args)
        made = found_of(kernel)(*args)
        assert made is not NotImplemented
        with libraries(**dict.fromkeys(LIBRARIES, False)):
            expected = reference(*others)
        for found, wanted in zip(arrays((made, *args)), arrays((expected, *others)), strict=True):
            assert found.dtype == wanted.dtype
            assert found.shape == wanted.shape
            found, wanted = (a.astype(np.float64) for a in (found, wanted))
            finite = np.isfinite(wanted)
            np.testing.assert_array_equal(np.where(finite, 0, found), np.where(finite, 0, wanted))
            scale = np.abs(wanted[finite]).max(initial=1)
            assert np.abs(found - wanted)[finite].max(initial=0) <= 1e-4 * scale


def test_what_is_accelerated_is_in_the_table() -> None:
    root = Path(torch.__file__).parent
    marked = {
        f"{'.'.join(path.relative_to(root).with_suffix('').parts)}.{name}"
        for path in root.rglob("*.py")
        for name in re.findall(
            r"^@(?:partial\()?accelerated.*\ndef (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert marked == set(TABLE)
    assert min(kernel.least for kernels in TABLE.values() for kernel in kernels) >= dispatch.LEAST


def test_all_kernels_are_switched_off_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(ENABLED) == set(LIBRARIES) == {kernel.library for kernels in TABLE.values() for kernel in kernels}

    def refused(kernel: Kernel) -> Any:
        raise AssertionError(kernel)

    monkeypatch.setattr(dispatch, "loaded", refused)
    with libraries(**dict.fromkeys(LIBRARIES, False)):
        for name in PROGRAMS:
            run(name)
