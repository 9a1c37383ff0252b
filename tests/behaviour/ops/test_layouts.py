"""Where results lie in memory: `view` and `is_contiguous` depend on it."""

from __future__ import annotations

import pytest

IN_ROWS = {
    "sum": lambda torch, x: x.sum(0),
    "sum, dimension kept": lambda torch, x: x.sum(1, keepdim=True),
    "mean": lambda torch, x: x.mean(0),
    "amax": lambda torch, x: x.amax(0),
    "max": lambda torch, x: x.max(0)[0],
    "argmax": lambda torch, x: x.argmax(0),
    "prod": lambda torch, x: x.prod(0),
    "std": lambda torch, x: x.std(0),
    "var_mean": lambda torch, x: torch.var_mean(x, 0)[1],
    "logsumexp": lambda torch, x: x.logsumexp(0),
    "vector_norm": lambda torch, x: torch.linalg.vector_norm(x, 2, 0),
    "any": lambda torch, x: (x > 1).any(0),
    "count_nonzero": lambda torch, x: x.count_nonzero(0),
    "cumsum": lambda torch, x: x.cumsum(0),
    "cumprod": lambda torch, x: x.cumprod(1),
    "cummax": lambda torch, x: x.cummax(0)[0],
    "logcumsumexp": lambda torch, x: x.logcumsumexp(0),
    "softmax": lambda torch, x: x.softmax(-1),
    "log_softmax": lambda torch, x: x.log_softmax(1),
    "cat": lambda torch, x: torch.cat([x, x], 1),
    "stack": lambda torch, x: torch.stack([x, x], -1),
    "roll": lambda torch, x: x.roll(1, 0),
    "repeat": lambda torch, x: x.repeat(1, 1, 1),
    "masked_fill": lambda torch, x: x.masked_fill(x > 1, 0.0),
    "masked_scatter": lambda torch, x: x.masked_scatter(x > 1, x.flatten()),
    "index_copy": lambda torch, x: x.index_copy(0, torch.tensor([0]), x[:1]),
    "renorm": lambda torch, x: x.renorm(2, 0, 0.5),
    "logsigmoid": lambda torch, x: torch.nn.functional.logsigmoid(x),
    "batch_norm": lambda torch, x: torch.nn.functional.batch_norm(x, None, None, training=True),
    "rms_norm": lambda torch, x: torch.nn.functional.rms_norm(x, (4,)),
    "one_hot": lambda torch, x: torch.nn.functional.one_hot(x.long()),
    "one_hot of many": lambda torch, x: torch.nn.functional.one_hot(torch.cat([x] * 4, 1).mT.long()),
    "unique": lambda torch, x: x.detach().unique(dim=0),
    "repeat_interleave": lambda torch, x: x.repeat_interleave(2, 1),
    "tril": lambda torch, x: x.tril(),
    "triu": lambda torch, x: x.triu(1),
}
AS_IT_WAS = {
    "add": lambda torch, x: x + 1,
    "exp": lambda torch, x: x.exp(),
    "clone": lambda torch, x: x.clone(),
    "double": lambda torch, x: x.double(),
    "where": lambda torch, x: torch.where(x > 0, x, 0.0),
    "zeros_like": lambda torch, x: torch.zeros_like(x),
    "flip": lambda torch, x: x.flip(0),
}


@pytest.mark.parametrize("name", IN_ROWS)
@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (2, 0, 1), (2, 1, 0)])
@pytest.mark.parametrize("tracked", [True, False])
def test_rows_whatever_the_operand(torch, name, order, tracked):
    back = tuple(sorted(range(3), key=order.__getitem__))
    x = torch.arange(24.0).reshape(tuple((2, 3, 4)[i] for i in order)).permute(back)
    expected = IN_ROWS[name](torch, x.contiguous())
    found = IN_ROWS[name](torch, x.requires_grad_() if tracked else x)
    assert found.is_contiguous()
    assert torch.allclose(found.detach().double(), expected.double())
    found.view(-1)


@pytest.mark.parametrize("name", AS_IT_WAS)
def test_the_order_is_kept(torch, name):
    x = torch.arange(24.0).reshape(3, 2, 4).permute(1, 2, 0)
    assert AS_IT_WAS[name](torch, x).stride() == x.stride()


@pytest.mark.parametrize("name", AS_IT_WAS)
def test_copies_of_what_was_expanded(torch, name):
    x = torch.arange(12.0).reshape(4, 1, 3).expand(4, 2, 3)
    assert AS_IT_WAS[name](torch, x).is_contiguous()


def test_channels_stay_last(torch):
    x = torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last)
    images = {
        "cat": torch.cat([x, x], 1),
        "batch_norm": torch.nn.functional.batch_norm(x, None, None, training=True),
        "relu": torch.relu(x),
        "clone": x.clone(),
    }
    for name, image in images.items():
        assert image.is_contiguous(memory_format=torch.channels_last), name
    assert x.softmax(1).is_contiguous()
    assert torch.cat([x, x.contiguous()], 1).is_contiguous()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_results_of_expanded_operands(torch, dtype):
    x = torch.ones(1, 5, dtype=getattr(torch, dtype)).expand(4, 5)
    for made in (x > 0, x + x, x.signbit(), x.to(torch.uint8), x.double(), x.byte() == 1):
        assert made.stride() == (5, 1)


def test_heads_of_attention_lie_as_in_the_queries(torch):
    attend = torch.nn.functional.scaled_dot_product_attention
    q, k, v = (x.view(2, 4, 3, 8).transpose(1, 2) for x in torch.randn(2, 4, 72).split(24, 2))
    made = attend(q, k, v, is_causal=True)
    assert made.shape == (2, 3, 4, 8) and made.transpose(1, 2).view(2, 4, 24).shape == (2, 4, 24)
    rows = [x.contiguous() for x in (q, k, v)]
    torch.testing.assert_close(made, attend(*rows, is_causal=True))
    assert attend(*rows).is_contiguous()


def test_one_channel_with_gaps_is_not_channels_last(torch):
    x, w = torch.randn(4, 6, 12)[..., ::2], torch.randn(4, 1, 3, 6)[..., ::2]
    assert torch.nn.functional.conv2d(x, w, groups=4).stride() == (16, 4, 1)


def test_losses_of_a_transposed_target(torch):
    scores, target = torch.randn(2, 2, 2, 3).permute(0, 3, 1, 2), torch.zeros(2, 2, 2, dtype=torch.int64)
    made = torch.nn.functional.nll_loss(scores, target.transpose(0, 2), reduction="none")
    assert made.stride() == (4, 2, 1)


@pytest.mark.parametrize("left", [True, False])
def test_no_stride_is_negative(torch, left):
    a = torch.eye(3, requires_grad=True)
    b = torch.ones(3, 3, requires_grad=True)
    made = torch.linalg.solve_triangular(a, b, upper=False, left=left)
    for t in (made, *torch.autograd.grad(made.sum(), (a, b))):
        assert min(t.stride()) > 0
