"""Copies that repeat elements."""

from __future__ import annotations

import numpy as np
import pytest

import gradpack as torch


def test_repeat_interleave_by_a_number():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    for dim in (0, 1, None):
        for repeats in (0, 1, 3, 20):
            made = torch.repeat_interleave(x, repeats, dim)
            np.testing.assert_array_equal(made.detach().numpy(), np.repeat(x.detach().numpy(), repeats, dim))
    names = []
    node = torch.repeat_interleave(x, 2, 1).grad_fn
    while node is not None:
        names.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    assert names[:4] == ["ViewBackward0", "CloneBackward0", "ExpandBackward0", "UnsqueezeBackward0"]
    with pytest.raises(RuntimeError, match="Invalid output_size, expected 6 but got 5"):
        torch.repeat_interleave(x, 1, output_size=5)


def test_sizes_that_are_no_ints_are_refused_whatever_was_asked_before():
    x = torch.ones(())
    for _ in range(2):
        with pytest.raises(TypeError):
            torch.linalg.vander(x, N=2.0)
        assert torch.linalg.vander(x, N=2).tolist() == [[1.0, 1.0]]
