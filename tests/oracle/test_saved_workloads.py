"""The workloads of the benchmark of saved tensors agree with torch, and keep no more than they are to."""

import pytest

torch = pytest.importorskip("torch")

from benchmarks.saved import LIBRARIES, check, step  # noqa: E402
from benchmarks.saved_ways import Library  # noqa: E402


@pytest.mark.parametrize("workload", ["W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "W11"])
def test_losses_and_gradients(workload):
    check(workload)


@pytest.mark.parametrize(("workload", "most"), [("W2", 0.7), ("W3", 0.8), ("W4", 0.9), ("W6", 0.95), ("W11", 0.8)])
def test_bytes_without_hooks(workload, most):
    found = {}
    for name in LIBRARIES:
        library = Library(name, workload, 0.1)
        with library.meter() as meter:
            step(library, library.block("none", 0)[0], lambda m=meter, n=name: found.setdefault(n, m.now))
    assert found["gradpack"] <= most * found["torch"]
