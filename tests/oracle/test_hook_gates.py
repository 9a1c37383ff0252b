"""The gates for saved tensor hooks, on torch: the text is the same, and so it says what torch does."""

from __future__ import annotations

import pytest

from gradpack.testing import hooks

torch = pytest.importorskip("torch")

# What 2.13 does not hold.
FAILS = {
    "composed",
    "bypass",
    "threads-with-a-context",
    "tasks",
    "write-after-aliasing-pack",
    "write-after-save-on-cpu",
    "mutation-mode-around-hooks",
    "mutation-mode-inside-hooks",
    "attributes",
    "identity-is-freed",
    "save-on-cpu-is-freed",
    "transforms",
    "error-in-pack-is-placed",
    "error-in-unpack-is-placed",
    "wrong-shape",
    "wrong-dtype",
}


def test_what_torch_holds_and_what_not():
    found = {outcome.gate.name: outcome.reason for outcome in hooks.run(torch) if not outcome.holds}
    assert set(found) == FAILS
    assert all(found.values()), "each says why"
