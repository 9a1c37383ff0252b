"""When compiled loops are used: for large dense arrays of floats, where there is Numba and nobody switched them off."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gradpack as torch
from gradpack.backends import compiled
from gradpack.kernels.conditions import ENOUGH, alike
from gradpack.kernels.dispatch import choosing
from gradpack.kernels.table import TABLE, Kernel

numba = pytest.importorskip("numba")


def large(dtype: object = np.float32) -> np.ndarray:
    return np.zeros(ENOUGH, dtype)


def test_large_dense_floats_are_taken() -> None:
    assert alike(large())
    assert alike(large(np.float64), None, 0.5, large(np.float64))


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(ENOUGH, np.float16),
        np.zeros(ENOUGH, np.int64),
        np.zeros(ENOUGH, ">f4"),
        np.zeros(2 * ENOUGH, np.float32)[::2],
        np.zeros((256, 256), np.float32).T,
        np.broadcast_to(np.float32(0), (ENOUGH,)),
    ],
    ids="half integers swapped strided transposed repeated".split(),
)
def test_all_others_are_not(array: Any) -> None:
    assert not alike(array)


def test_others_beside_are_of_the_same_kind() -> None:
    assert not alike(large(), large(np.float64))
    assert not alike(large(), large()[::2])
    assert not alike(large(), large().view(np.recarray))
    assert alike(large(), np.zeros(3, np.float32), None)


def test_arrays_are_numpys_own_and_large(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    kernel = Kernel("numba", "elementwise.erf", lambda x: bool(asked.append(x)))
    monkeypatch.setitem(TABLE, "here", (kernel,))
    chosen = choosing(lambda x: x, "here")
    for array in (np.zeros(ENOUGH - 1, np.float32), large().view(np.recarray), 0.5):
        assert chosen(array) is array
    assert not asked
    chosen(large())
    assert len(asked) == 1


def test_flags() -> None:
    def used() -> bool:
        return bool(choosing(lambda x: x, "ops.pointwise.error_function.erf_of")(x) is not x)

    x = large()
    assert compiled.is_available()
    assert torch.backends.compiled.is_enabled()
    with torch.backends.compiled.flags(enabled=False):
        assert not compiled.is_enabled()
        assert not used()
        with torch.backends.compiled.flags():
            assert used()
        assert not compiled.is_enabled()
    with pytest.raises(ZeroDivisionError), torch.backends.compiled.flags(enabled=False):
        _ = 1 / 0
    assert compiled.is_enabled()


def run(text: str, **environment: str) -> str:
    import os

    made = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        check=True, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip
    assert not made.stderr
    return made.stdout.strip()


def test_numba_is_imported_when_a_large_array_needs_it() -> None:
    text = (
        "import sys, gradpack as torch\n"
        "for size in (1 << 10, 1 << 16):\n"
        "    with torch.saved.quantize(8, min_bytes=0):\n"
        "        (torch.ones(size, requires_grad=True) ** 2).sum().backward()\n"
        "    print('numba' in sys.modules)"
    )
    assert run(text, GRADPACK_COMPILED="1").split() == ["False", "True"]
    assert run(text, GRADPACK_COMPILED="0").split() == ["False", "False"]


def test_without_numba_there_are_no_loops() -> None:
    text = (
        "import sys\nsys.modules['numba'] = None\n"
        "import gradpack as torch\n"
        "made = torch.erf(torch.ones(1 << 16))\n"
        "print(made.min().item(), made.max().item())"
    )
    assert [float(n) for n in run(text).split()] == pytest.approx([0.84270079, 0.84270079], rel=5e-7)
