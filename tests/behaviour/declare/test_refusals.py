"""What torch's own list of bad inputs is refused with: type and words."""

from __future__ import annotations

import re

import pytest

NAN, INF = float("nan"), float("inf")
CASES = [
    ("_chunk_cat", lambda t: t._chunk_cat([t.ones(2, 3), t.ones(4)], -1, 3), "expects non-negative dim when input"),
    ("cat", lambda t: t.cat([]), "torch.cat(): expected a non-empty list of Tensors"),
    (
        "dot",
        lambda t: t.ones(1).dot(t.ones(1).half()),
        "dot : expected both vectors to have same dtype, but found Float",
    ),
    (
        "dot, sizes",
        lambda t: t.ones(9).dot(t.ones(3)),
        "inconsistent tensor size, expected tensor [9] and src [3] to have",
    ),
    (
        "hsplit",
        lambda t: t.ones(()).hsplit(1),
        "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor",
    ),
    ("vsplit", lambda t: t.ones(5, 5).vsplit(0), "torch.vsplit attempted to split along dimension 0, but the size of"),
    (
        "dsplit",
        lambda t: t.ones(5, 5, 5).dsplit(2),
        "torch.dsplit attempted to split along dimension 2, but the size of",
    ),
    ("fftn", lambda t: t.fft.fftn(t.ones(()), dim=(0,)), "Dimension specified as 0 but tensor has no dimensions"),
    ("irfft2", lambda t: t.fft.irfft2(t.ones(()), dim=(0,)), "Dimension specified as 0 but tensor has no dimensions"),
    ("roll", lambda t: t.ones(()).roll(0, 0), "Dimension specified as 0 but tensor has no dimensions"),
    ("roll, shifts", lambda t: t.ones(5, 5).roll((2, 1), 0), "shifts and dimensions must align. shifts: 2, dims:1"),
    (
        "gradient",
        lambda t: t.gradient(t.ones(3, 3), spacing=[0.1], dim=[1, 0]),
        "spacing and dim arguments to have the same",
    ),
    (
        "gradient, edges",
        lambda t: t.gradient(t.ones(3, 3), edge_order=3),
        "only supports edge_order=1 and edge_order=2.",
    ),
    (
        "index_add",
        lambda t: t.ones(3, 2).index_add(0, t.tensor([0, 1]), t.ones(2)),
        "source tensor shape must match self",
    ),
    (
        "masked_scatter",
        lambda t: t.ones(3).masked_scatter(t.ones(3), t.ones(3)),
        "masked_scatter_ only supports boolean masks",
    ),
    (
        "masked_fill",
        lambda t: t.ones(3).masked_fill(t.ones(3), 1.0),
        "masked_fill_ only supports boolean masks, but got mask",
    ),
    ("masked_select", lambda t: t.ones(3).masked_select(t.ones(3)), "masked_select: expected BoolTensor for mask"),
    ("mean", lambda t: t.ones(3).mean(0, dtype=t.int64), "point or complex dtype. Got: Long"),
    (
        "movedim",
        lambda t: t.ones(1, 1, 1).movedim((1, -1), (0,)),
        "source ([1, -1] dims) should contain the same number of",
    ),
    (
        "movedim, twice",
        lambda t: t.ones(1, 1, 1).movedim((1, -2), (0, 1)),
        "movedim: repeated dim in `source` ([1, -2])",
    ),
    ("multinomial", lambda t: t.ones(2).multinomial(3), "cannot sample n_sample > prob_dist.size(-1) samples without"),
    ("multinomial, <", lambda t: t.tensor([1, NAN]).multinomial(2, True), "(encountering probability entry < 0)"),
    (
        "multinomial, inf",
        lambda t: t.tensor([1, INF]).multinomial(2, True),
        "(encountering probability entry = infinity or",
    ),
    (
        "multinomial, one",
        lambda t: t.tensor([1, INF]).multinomial(1, True),
        "contains either `inf`, `nan` or element < 0",
    ),
    ("multinomial, dtype", lambda t: t.tensor([1]).multinomial(1), "floating-point dtypes for input, got: Long"),
    ("narrow_copy", lambda t: t.narrow_copy(t.ones(()), 0, 0, 1), "narrow() cannot be applied to a 0-dim tensor."),
    (
        "narrow_copy, length",
        lambda t: t.narrow_copy(t.ones(9), 0, 0, -1),
        "start (0) + length (-1) exceeds dimension size (9).",
    ),
    (
        "narrow_copy, dim",
        lambda t: t.narrow_copy(t.ones(9), 3, 0, 0),
        "Expected dim < static_cast<int64_t>(self_sizes.size())",
    ),
    ("normal_", lambda t: t.ones(9).normal_(0, -1), "normal expects std >= 0.0, but found std -1"),
    (
        "scatter",
        lambda t: t.ones(3, 5).scatter(0, t.tensor([0]), t.ones(1)),
        "same number of dimensions as self tensor",
    ),
    (
        "scatter_add",
        lambda t: t.ones(3).scatter_add(0, t.tensor([0]), t.ones(1).double()),
        "scatter(): Expected self.dtype",
    ),
    ("sum_to_size", lambda t: t.ones(3, 4).sum_to_size(2), "size {[2]} is not expandable to size {[3, 4]}."),
    (
        "softshrink",
        lambda t: t.nn.functional.softshrink(t.ones(1), -0.5),
        "lambda must be in range [0, 3.40282e+38] for input",
    ),
    (
        "rms_norm",
        lambda t: t.nn.functional.rms_norm(t.ones(3), ()),
        "to be at least 1-dimensional, i.e., containing at least",
    ),
    ("layer_norm", lambda t: t.nn.functional.layer_norm(t.ones(3), (4,)), "shape [*, 4], but got input of size[3]"),
    (
        "linspace",
        lambda t: t.linspace(t.ones(2), t.ones(2), 1),
        "start with 1 dimension(s) and end with 1 dimension(s).",
    ),
    (
        "conv1d",
        lambda t: t.nn.functional.conv1d(t.ones(1, 1, 4), t.ones(1, 2)),
        "weight should have at least three dimensions",
    ),
    (
        "conv1d, dilation",
        lambda t: t.conv1d(t.ones(1, 1, 4), t.ones(1, 1, 2), dilation=-1),
        "dilation should be greater than",
    ),
    (
        "conv2d",
        lambda t: t.conv2d(t.ones(1, 1, 4, 3), t.ones(1, 2, 2), padding="same"),
        "Expected 3-dimensional input for 3-dim",
    ),
    (
        "conv2d, bias",
        lambda t: t.conv2d(t.ones(1, 1, 4, 3), t.ones(1, 1, 2, 2), t.ones(1).long()),
        "bias type (long int)",
    ),
    (
        "max_pool1d",
        lambda t: t.max_pool1d(t.ones(1, 4), 2, padding=-1),
        "max_pool1d() padding must be non-negative, but got -1",
    ),
    (
        "max_pool1d, indices",
        lambda t: t.max_pool1d_with_indices(t.ones(1, 4), 2, padding=-1),
        "pad must be non-negative, but",
    ),
    (
        "max_pool2d",
        lambda t: t.max_pool2d(t.ones(0, 1, 4), 2, padding=4),
        "pad should be at most half of effective kernel size",
    ),
    (
        "max_pool2d, rank",
        lambda t: t.max_pool2d(t.ones(4), 2),
        "non-empty 3D or 4D (batch mode) tensor expected for input",
    ),
    (
        "max_pool3d",
        lambda t: t.max_pool3d(t.ones(0, 1, 2, 4), 1),
        "max_pool3d_with_indices_out_cpu_template(): Expected",
    ),
    (
        "avg_pool2d",
        lambda t: t.nn.functional.avg_pool2d(t.ones(0, 1, 4), 2, padding=-1),
        "pad must be non-negative, but got pad: -1",
    ),
    (
        "avg_pool3d",
        lambda t: t.nn.functional.avg_pool3d(t.ones(1, 4), 2),
        "non-empty 4D or 5D (batch mode) tensor expected for input",
    ),
    (
        "adaptive_max_pool1d",
        lambda t: t.adaptive_max_pool1d(t.ones(1, 2, 4), -1),
        "negative dimension -1: [1, 2, 1, -1]",
    ),
    (
        "multi_margin_loss",
        lambda t: t.nn.functional.multi_margin_loss(t.ones(5, 4), t.ones(5), weight=t.ones(5)),
        "inconsistent weight size, expected 4 but got [5]",
    ),
    (
        "empty_permuted",
        lambda t: t.empty_permuted((2,), (3,)),
        "(expected to be between 0 and 0, but got 3 at index 0)",
    ),
]
TYPES = {"cat": ValueError, "fftn": IndexError, "irfft2": IndexError, "roll": IndexError}


@pytest.mark.parametrize(("name", "call", "words"), CASES, ids=[case[0] for case in CASES])
def test_refused_in_these_words(torch, name, call, words):
    with pytest.raises(TYPES.get(name, RuntimeError), match=re.escape(words)):
        call(torch)


def test_fewer_chances_than_samples_are_filled_up(torch):
    assert sorted(torch.tensor([0.0, 1.0, 0.0]).multinomial(3).tolist()) == [0, 1, 2]


def test_a_gradient_of_another_shape_than_the_leaf_now_has(torch):
    x = torch.ones(2, 3, requires_grad=True)
    y = x.sum()
    x.data = torch.ones(4)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(4\) must match the size of tensor b \(3\)"):
        y.backward()
    assert x.grad is None


def test_a_padding_index_beyond_the_rows_is_said_first(torch):
    with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
        torch.nn.functional.embedding(torch.tensor([[1], [0]]), torch.ones(2), padding_idx=3)
