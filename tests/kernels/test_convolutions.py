"""Convolutions by compiled loops: the same as by products of matrices, for every geometry."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F

pytest.importorskip("numba")

from gradpack.kernels import dispatch
from gradpack.kernels.dispatch import loaded
from gradpack.kernels.numba import convolution as direct

# images, weights, stride, padding, dilation, groups
GEOMETRIES = [
    ((6, 8, 29, 31), (16, 8, 3, 3), 1, 1, 1, 1),
    ((5, 7, 33, 32), (9, 7, 3, 3), 2, 1, 1, 1),
    ((4, 6, 40, 41), (4, 3, 5, 4), (2, 3), (2, 0), (2, 1), 2),
    ((3, 12, 31, 33), (12, 1, 3, 3), 1, 1, 1, 12),
    ((3, 12, 31, 33), (24, 1, 3, 2), 2, 0, 1, 12),
    ((4, 9, 999), (5, 9, 3), 1, 1, 1, 1),
    ((4, 9, 999), (5, 9, 4), 3, 2, 2, 1),
    ((3, 4, 14, 15, 16), (5, 4, 3, 3, 2), (1, 2, 1), (1, 0, 2), 1, 1),
    ((4, 8, 33, 34), (3, 8, 1, 1), 2, 0, 1, 1),
    ((4, 8, 33, 34), (3, 8, 2, 2), 3, 0, 1, 1),
]


def _numbers(seed: int, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def _with_gradients(call: Any, *arrays: Any) -> list[Any]:
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = call(*tensors)
    seed = torch.tensor(_numbers(9, tuple(out.shape), str(out.detach().numpy().dtype)))
    return [t.detach().numpy() for t in (out, *torch.autograd.grad(out, tensors, seed))]


def _agree(call: Any, *arrays: Any) -> None:
    found = _with_gradients(call, *arrays)
    with torch.backends.compiled.flags(enabled=False):
        wanted = _with_gradients(call, *arrays)
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=0, atol=2e-5 * abs(b).max())


def _noting(function: Any, made: list[Any]) -> Any:
    def call(*args: Any) -> Any:
        made.append(function(*args))
        return made[-1]

    return call


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the loops gave, for each time they were asked."""
    made: list[Any] = []
    monkeypatch.setattr(dispatch, "loaded", lambda kernel: _noting(loaded(kernel), made))
    return made


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_a_convolution_and_its_gradients_are_those_of_products_of_matrices(geometry: Any, calls: list[Any]) -> None:
    images, weights, stride, padding, dilation, groups = geometry
    conv = (F.conv1d, F.conv2d, F.conv3d)[len(images) - 3]
    arrays = _numbers(1, images), _numbers(2, weights), _numbers(3, weights[:1])
    _agree(lambda x, w, b: conv(x, w, b, stride, padding, dilation, groups), *arrays)
    assert calls
    assert calls[0] is not NotImplemented


@pytest.mark.parametrize(
    ("stride", "padding", "output_padding"), [(2, 0, 0), (2, 1, 1), (3, 2, 1), (1, 1, 0), (4, 0, 1)]
)
def test_a_transposed_convolution_and_its_gradients_agree(stride: int, padding: int, output_padding: int) -> None:
    arrays = _numbers(1, (5, 8, 31, 29)), _numbers(2, (8, 3, 3, 2)), _numbers(3, (3,))
    _agree(lambda x, w, b: F.conv_transpose2d(x, w, b, stride, padding, output_padding), *arrays)


def test_blocks_of_images_give_what_all_of_them_give(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = _numbers(1, (7, 8, 29, 31)), _numbers(2, (16, 8, 3, 3)), _numbers(3, (16,))
    monkeypatch.setattr(direct, "BLOCK", 60_000)  # two images at a time, and one at the end
    _agree(lambda x, w, b: F.conv2d(x, w, b, padding=1), *arrays)


def test_float64_small_images_and_other_layouts_agree() -> None:
    def call(x: Any, w: Any, b: Any) -> Any:
        return F.conv2d(x, w, b, padding=1)

    _agree(
        call, _numbers(1, (4, 8, 33, 33), "float64"), _numbers(2, (8, 8, 3, 3), "float64"), _numbers(3, (8,), "float64")
    )
    _agree(call, _numbers(1, (1, 2, 9, 9)), _numbers(2, (3, 2, 3, 3)), _numbers(3, (3,)))
    turned = _numbers(1, (4, 33, 33, 8)).transpose(0, 3, 1, 2)
    _agree(lambda x, w, b: call(x.transpose(2, 3), w, b), turned, _numbers(2, (8, 8, 3, 3)), _numbers(3, (8,)))


def test_a_gradient_that_is_one_number_repeated() -> None:
    arrays = _numbers(1, (4, 8, 33, 33)), _numbers(2, (8, 8, 3, 3))
    _agree(lambda x, w: F.conv2d(x, w, padding=1).sum(), *arrays)


def test_what_is_infinite_or_no_number_stays_where_windows_see_it() -> None:
    images = _numbers(1, (4, 8, 33, 33))
    images[1, 2, 0, 0], images[2, 3, 32, 32] = np.inf, np.nan
    weight = torch.tensor(_numbers(2, (8, 8, 3, 3)))
    found = F.conv2d(torch.tensor(images), weight, padding=1).numpy()
    finite = np.isfinite(found)
    assert not finite[1, :, :2, :2].any()
    assert not finite[2, :, 31:, 31:].any()
    assert finite.sum() == finite.size - 2 * 8 * 4


def test_second_derivatives_agree() -> None:
    def twice(x: Any, w: Any) -> Any:
        out = F.conv2d(x, w, stride=2, padding=1)
        return torch.autograd.grad((out * out).sum(), x, create_graph=True)[0]

    _agree(twice, _numbers(1, (4, 8, 33, 33)), _numbers(2, (6, 8, 3, 3)))


def test_tiles_are_those_of_the_processor_that_is_compiled_for() -> None:
    text = "from gradpack.kernels.numba.loops import tiles; print(tiles.LANES)"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""},
    )  # fmt: skip
    assert done.stdout == "8\n"
