"""Layers and functions that are composed of others make what they need on the device of their input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import nn
from gradpack.backends import cupy_loading

rnn = nn.utils.rnn


def drawn(where, *sizes, **kind):
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(1), **kind).to(where)


def of(make, where):
    torch.manual_seed(0)
    return make().to(where)


def flat(found):
    return [t for part in found for t in flat(part)] if isinstance(found, tuple | list) else [found]


def packed(make):
    def call(where):
        sequence = rnn.pack_sequence([drawn(where, n, 3) for n in (4, 2, 3)], enforce_sorted=False)
        out, state = of(make, where)(sequence)
        lengths = torch.tensor([2, 4, 1])
        again = rnn.pack_padded_sequence(drawn(where, 4, 3, 3), lengths, enforce_sorted=False)
        assert sequence.batch_sizes.device.type == "cpu" and again.to("cpu").unsorted_indices.device.type == "cpu"
        return rnn.pad_packed_sequence(out, total_length=6)[0], state, rnn.pad_packed_sequence(again, True)[0]

    return call


def recurrent(make):
    def call(where):
        net, x = of(make, where), drawn(where, 5, 2, 3).requires_grad_()
        out, state = net(x)
        out.sum().backward()
        return out, state, x.grad, net(x[0])

    return call


def cell(make):
    return lambda where: (of(make, where)(drawn(where, 2, 3)), of(make, where)(drawn(where, 3)))


def orthogonal(way):
    def call(where):
        net = of(lambda: nn.Linear(3, 4), where)
        weight = nn.utils.parametrizations.orthogonal(net, orthogonal_map=way).weight
        return weight.T @ weight

    return call


def attention(where):
    net = of(lambda: nn.MultiheadAttention(4, 2, add_zero_attn=True, add_bias_kv=True), where)
    return net(*(drawn(where, 3, 2, 4),) * 3)


def bag(mode):
    def call(where):
        net = of(lambda: nn.EmbeddingBag(5, 2, mode=mode), where)
        return net(torch.tensor([1, 2, 3], device=where), torch.tensor([0, 2], device=where)), net(
            torch.tensor([[1, 2], [3, 3]], device=where)
        )

    return call


def losses(where):
    scores, classes = drawn(where, 3, 3), torch.tensor([0, 1, 2], device=where)
    weight = torch.tensor([1.0, 2.0, 3.0], device=where)
    steps = torch.tensor([5, 5])
    return (
        F.cross_entropy(scores, classes, weight=weight, label_smoothing=0.1),
        F.multi_margin_loss(scores, classes, weight=weight),
        F.multilabel_margin_loss(scores[:1], torch.tensor([[0, -1, -1]], device=where)),
        F.ctc_loss(drawn(where, 5, 2, 4).log_softmax(-1), classes[:2, None] + 1, steps, torch.tensor([1, 1])),
    )


def masked(where):
    x = drawn(where, 3, 3)
    names = "sum prod mean amax argmax median var std softmax logsumexp cumsum".split()
    found = [getattr(torch.masked, name)(x, 1, mask=x > 0) for name in names]
    return (*found, torch.masked.mean(x, 1), torch.masked.normalize(x, 2.0, 1, mask=x > 0))


def checked(where):
    x = drawn(where, 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(torch.sin, x, check_forward_ad=True)
    assert torch.autograd.gradcheck(torch.sin, x, fast_mode=True) and torch.autograd.gradgradcheck(torch.sin, x)
    return x


CASES = {
    "rnn": recurrent(lambda: nn.RNN(3, 4, 2)),
    "lstm": recurrent(lambda: nn.LSTM(3, 4, 2, bidirectional=True)),
    "lstm-projected": recurrent(lambda: nn.LSTM(3, 4, proj_size=2)),
    "gru": recurrent(lambda: nn.GRU(3, 4, batch_first=True)),
    "rnn-packed": packed(lambda: nn.RNN(3, 4)),
    "lstm-packed": packed(lambda: nn.LSTM(3, 4)),
    "rnn-cell": cell(lambda: nn.RNNCell(3, 4)),
    "lstm-cell": cell(lambda: nn.LSTMCell(3, 4)),
    "gru-cell": cell(lambda: nn.GRUCell(3, 4)),
    "attention": attention,
    "exponential": orthogonal("matrix_exp"),
    "cayley": orthogonal("cayley"),
    "householder": orthogonal("householder"),
    "bag-sum": bag("sum"),
    "bag-mean": bag("mean"),
    "bag-max": bag("max"),
    "short-rows": lambda d: of(lambda: nn.Embedding(5, 2, max_norm=0.1), d)(torch.tensor([1, 3], device=d)),
    "losses": losses,
    "masked": masked,
    "gradcheck": checked,
    "one-hot": lambda d: [F.one_hot(torch.tensor([0, 2, 1], device=d), n) for n in (-1, 4)],
    "padded": lambda d: rnn.unpad_sequence(
        rnn.pad_sequence([drawn(d, 3, 2), drawn(d, 1, 2)]), torch.tensor([3, 1], device=d)
    ),
    "new": lambda d: (
        drawn(d, 2).new_tensor([1, 2]),
        drawn(d, 2).new_empty_strided((2, 2), (2, 1)).zero_(),
        drawn("cpu", 2).new_tensor([1, 2], device=d),
    ),
    "stft": lambda d: torch.istft(torch.stft(drawn(d, 40), 8, win_length=6, return_complex=True), 8, win_length=6),
    "trapezoid": lambda d: torch.trapezoid(drawn(d, 0, 3), dim=0),
    "quantile": lambda d: (torch.quantile(drawn(d, 9), 0.3), torch.nanquantile(drawn(d, 9), 0.3)),
    "repeat": lambda d: (
        torch.repeat_interleave(torch.tensor([1, 2], device=d)),
        torch.repeat_interleave(drawn(d, 2, 3), torch.tensor([1, 2], device=d), dim=0),
    ),
    "segments": lambda d: [
        torch.segment_reduce(drawn(d, 5), kind, lengths=torch.tensor([2, 0, 3], device=d)) for kind in ("mean", "max")
    ],
    "pdist": lambda d: (torch.pdist(drawn(d, 4, 3)), torch.vander(drawn(d, 3)), torch.triu_indices(3, 3, device=d)),
    "low-rank": lambda d: torch.svd_lowrank(drawn(d, 6, 4), q=4)[1],
    "reflections": lambda d: torch.ormqr(drawn(d, 4, 2), drawn(d, 2), drawn(d, 4, 3)),
    "affine-grid": lambda d: F.affine_grid(drawn(d, 1, 2, 3), (1, 1, 3, 3), align_corners=False),
    "dropout": lambda d: (
        F.alpha_dropout(drawn(d, 3), 0.5, True) * 0,
        F.dropout2d(drawn(d, 1, 3, 2, 2), 0.5) * 0,
        torch.native_dropout(drawn(d, 3), 0.0, True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_composed_functions_stay_on_the_device(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = flat(CASES[name]("cpu")), flat(CASES[name]("cuda"))
    for a, b in zip(expected, found, strict=True):
        assert b.device.type == "cuda" and b.dtype is a.dtype
        np.testing.assert_allclose(b.detach().cpu().numpy(), a.detach().numpy(), rtol=1e-3, atol=1e-5)


LARGE = {
    "batch_norm": lambda d: nn.BatchNorm2d(16).to(d),
    "batch_norm, evaluating": lambda d: nn.BatchNorm2d(16).to(d).eval(),
    "group_norm": lambda d: nn.GroupNorm(4, 16).to(d),
    "layer_norm": lambda d: nn.LayerNorm(40).to(d),
    "convolution": lambda d: nn.Conv2d(16, 16, 3, padding=1).to(d),
    "max_pool2d": lambda d: nn.MaxPool2d(3, 2),
    "avg_pool2d": lambda d: nn.AvgPool2d(2),
    "interpolate": lambda d: nn.Upsample(scale_factor=2, mode="bilinear"),
    "topk": lambda d: lambda x: x.topk(3)[0],
    "dropout": lambda d: nn.Dropout(0.5),
    "reflect": lambda d: nn.ReflectionPad2d(1),
    "grid_sample": lambda d: lambda x: F.grid_sample(x, torch.zeros(4, 9, 9, 2, device=d), align_corners=False),
    "cumsum": lambda d: lambda x: x.cumsum(-1),
    "softmax": lambda d: nn.Softmax(-1),
    "gelu": lambda d: nn.GELU(),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_arrays_are_not_taken_for_those_of_the_host(name, real):
    x = torch.randn(4, 16, 40, 40).to("cuda").requires_grad_()
    before = dict(cupy_loading.loaded().on_host)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        LARGE[name]("cuda")(x).sum().backward()
    assert real or cupy_loading.loaded().on_host == before
