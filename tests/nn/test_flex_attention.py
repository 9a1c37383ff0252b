"""`flex_attention` and block masks: scores changed and masked by functions of places."""

from __future__ import annotations

import pytest

import gradpack as torch
from gradpack.nn import functional
from gradpack.nn.attention import SDPBackend, sdpa_kernel
from gradpack.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)


def causal(b, h, q, kv):
    return q >= kv


def drawn(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def test_it_is_attention():
    q, k, v = drawn(2, 3, 5, 4), drawn(2, 3, 6, 4), drawn(2, 3, 6, 7)
    torch.testing.assert_close(flex_attention(q, k, v), functional.scaled_dot_product_attention(q, k, v))
    mask = create_block_mask(causal, None, None, 5, 6)
    expected = functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)
    torch.testing.assert_close(flex_attention(q, k, v, block_mask=mask, scale=0.3), expected)


def test_scores_are_changed_by_what_a_function_reads_at_their_places():
    q, k, v, slopes, table = drawn(2, 3, 5, 4), drawn(2, 3, 5, 4), drawn(2, 3, 5, 4), drawn(3), drawn(2, 9)

    def changed(score, b, h, i, j):
        return torch.tanh(score) + slopes[h] * (i - j) + table[b][i - j + 4]

    places = torch.arange(5)[:, None] - torch.arange(5)
    scores = torch.tanh(q @ k.transpose(-1, -2) / 2) + slopes[:, None, None] * places + table[:, places + 4][:, None]
    expected = scores.softmax(-1) @ v
    found = flex_attention(q, k, v, score_mod=changed)
    torch.testing.assert_close(found, expected)
    wanted = torch.autograd.grad(expected.square().sum(), (q, k, v, slopes, table))
    for a, b in zip(torch.autograd.grad(found.square().sum(), (q, k, v, slopes, table)), wanted, strict=True):
        torch.testing.assert_close(a, b)


def test_what_is_masked_wholly_is_zero():
    x = drawn(1, 1, 4, 2)
    mask = create_block_mask(lambda b, h, q, kv: (q > 0) & (kv > 0), 1, 1, 4, 4)
    out, aux = flex_attention(x, x, x, block_mask=mask, return_aux=AuxRequest(lse=True, max_scores=True))
    assert out[0, 0, 0].tolist() == [0.0, 0.0] and aux.lse[0, 0, 0] == -float("inf") == aux.max_scores[0, 0, 0]
    assert not torch.autograd.grad(out.sum(), x)[0].isnan().any()
    assert flex_attention(x, x, x, return_lse=True)[1].shape == (1, 1, 4)


def test_grouped_heads():
    q, k = drawn(1, 4, 3, 2), drawn(1, 2, 3, 2)
    expected = functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    torch.testing.assert_close(flex_attention(q, k, k, enable_gqa=True), expected)
    with pytest.raises(ValueError, match="Try setting enable_gqa=True"):
        flex_attention(q, k, k)
    with pytest.raises(NotImplementedError, match="must be 4D"):
        flex_attention(q[0], k, k)
    with pytest.raises(ValueError, match="A new block_mask should be created"):
        flex_attention(q, q, q, block_mask=create_block_mask(causal, 1, 1, 4, 4))


def test_block_masks():
    mask = create_block_mask(causal, 2, 3, 200, 256)
    assert mask.shape == (2, 3, 200, 256) and mask.BLOCK_SIZE == (128, 128) and mask.numel() == 307200
    assert mask.sparsity() == pytest.approx(4.0) and repr(mask) == "BlockMask(shape=(2, 3, 200, 256), sparsity=4.00%)"
    assert mask.kv_num_blocks[0, 0].tolist() == [1, 2] and mask.kv_indices[0, 0].tolist() == [[0, 1], [0, 1]]
    assert mask.q_num_blocks[0, 0].tolist() == [2, 1] and mask.full_kv_num_blocks.sum().item() == 0
    assert mask.to_dense()[1, 2].tolist() == [[1, 0], [1, 1]] and mask.kv_indices.dtype == torch.int32
    assert mask[0].shape == (1, 3, 200, 256) and mask[:, -1].shape == (2, 1, 200, 256)
    assert mask.as_tuple()[:2] == (200, 256) and mask.as_tuple(flatten=False)[-2] == (128, 128)
    whole = create_block_mask(causal, 1, 1, 64, 64, BLOCK_SIZE=16)
    assert whole.full_kv_num_blocks[0, 0].tolist() == [0, 1, 2, 3] and whole.kv_num_blocks[0, 0].tolist() == [1] * 4
    again = BlockMask.from_kv_blocks(whole.kv_num_blocks, whole.kv_indices, BLOCK_SIZE=16)
    assert again.seq_lengths == (64, 64) and again.mask_mod is noop_mask and again.to("cpu").sparsity() == 75.0


def test_masks_of_masks():
    near = and_masks(causal, lambda b, h, q, kv: q - kv < 2)
    assert create_mask(near, 1, 1, 3, 3)[0, 0].tolist() == [
        [True, False, False],
        [True, True, False],
        [False, True, True],
    ]
    either = or_masks(causal, lambda b, h, q, kv: kv == 2)
    assert create_mask(either, None, 2, 2, 3).tolist() == [[[[True, False, True], [True, True, True]]] * 2]
    assert create_mask(noop_mask, 1, 1, 2, 2).all()
    with pytest.raises(RuntimeError, match="All inputs should be callable"):
        and_masks(causal, 3)


def test_kernels_may_be_asked_for():
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        functional.scaled_dot_product_attention(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2))
    with pytest.raises(AssertionError, match="SDPBackend"):
        sdpa_kernel("math").__enter__()
