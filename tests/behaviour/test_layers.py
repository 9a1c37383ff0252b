"""Layers, losses and helpers of `torch.nn`: corners, and what they refuse."""

from __future__ import annotations

import importlib

import pytest


def test_batch_norm_of_one_process(torch):
    plain, sync = torch.nn.BatchNorm2d(3), torch.nn.SyncBatchNorm(3)
    for x in (torch.randn(4, 3, 2, 2), torch.randn(4, 3, 2, 2)):
        assert torch.allclose(plain(x), sync(x))
    assert torch.allclose(plain.running_var, sync.running_var) and sync.num_batches_tracked == 2
    x = torch.randn(5, 3)
    assert torch.allclose(sync.eval()(x), plain.eval()(x[:, :, None, None])[:, :, 0, 0])
    for shape, words in (((3,), "2D"), ((2, 0, 3), "non-zero")):
        with pytest.raises(ValueError, match=words):
            sync(torch.ones(shape))


def test_batch_norm_is_converted(torch):
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3, momentum=0.3), nn.Sequential(nn.BatchNorm2d(4).eval()))
    before = [model[1], model[2][0]]
    assert nn.SyncBatchNorm.convert_sync_batchnorm(model, process_group="all") is model
    for old, new in zip(before, (model[1], model[2][0]), strict=True):
        assert type(new) is nn.SyncBatchNorm and new.process_group == "all" and new.training == old.training
        assert new.weight is old.weight and new.running_mean is old.running_mean and new.momentum == old.momentum
    alone = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(2, affine=False))
    assert type(alone) is nn.SyncBatchNorm and alone.weight is None
    assert "SyncBatchNorm(3" in repr(model)


def test_responses_over_channels(torch):
    x = torch.tensor([1.0, 2.0, 3.0, 4.0]).reshape(1, 4, 1, 1)
    layer = torch.nn.CrossMapLRN2d(3, alpha=3.0, beta=1.0, k=1.0)
    assert layer(x)[0, :2].flatten().tolist() == pytest.approx([1 / 6, 2 / 15])
    with pytest.raises(ValueError, match="4D"):
        layer(x[0])
    assert repr(layer) == "CrossMapLRN2d(3, alpha=3.0, beta=1.0, k=1.0)"


@pytest.mark.parametrize("reduction", [-1, 1, True, None, "average"])
def test_reductions_that_there_are_not(torch, reduction):
    F, x = torch.nn.functional, torch.randn(3, 4)
    classes = torch.tensor([0, 1, 2])
    for loss in (
        lambda: torch.nn.CrossEntropyLoss(reduction=reduction)(x, classes),
        lambda: F.cross_entropy(x, classes, reduction=reduction, label_smoothing=0.1),
        lambda: F.nll_loss(x, classes, reduction=reduction),
        lambda: F.mse_loss(x, x, reduction=reduction),
        lambda: F.kl_div(x, x, reduction=reduction),
    ):
        with pytest.raises(ValueError, match="not a valid value for reduction"):
            loss()
    for loss in (
        lambda: F.gaussian_nll_loss(x, x, x.abs(), reduction=reduction),
        lambda: F.multilabel_soft_margin_loss(x, x.abs(), reduction=reduction),
    ):
        with pytest.raises(ValueError if isinstance(reduction, str) else TypeError):
            loss()


def test_loading_what_is_no_state(torch):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.5)
    w.grad = torch.ones(2)
    optimizer.step()
    before = optimizer.state_dict()["state"][0]["momentum_buffer"].clone()
    for wrong, error in (("a", AttributeError), (None, AttributeError), ([], TypeError), ({}, KeyError)):
        with pytest.raises(error):
            optimizer.load_state_dict(wrong)
    assert torch.equal(optimizer.state_dict()["state"][0]["momentum_buffer"], before)


def test_padding_what_are_no_sequences(torch):
    rnn = importlib.import_module(f"{torch.__name__}.nn.utils.rnn")
    good = [torch.ones(2), torch.ones(3)]
    for wrong, error, words in (
        ("a", TypeError, "element 0"),
        ([torch.ones(2), 1], TypeError, "element 1"),
        (3, RuntimeError, "iterable"),
        ([], RuntimeError, "empty"),
        ([torch.tensor(1.0)], RuntimeError, ""),
    ):
        with pytest.raises(error) as caught:
            rnn.pad_sequence(wrong)
        assert words in str(caught.value)
    for options in ({"batch_first": "a"}, {"padding_value": "a"}, {"padding_value": None}, {"padding_side": 3}):
        with pytest.raises(TypeError, match=next(iter(options))):
            rnn.pad_sequence(good, **options)
    with pytest.raises(RuntimeError, match="left or right"):
        rnn.pad_sequence(good, padding_side="top")
    assert rnn.pad_sequence(good, padding_value=torch.tensor(2.0)).tolist() == [[1, 1], [1, 1], [2, 1]]
    for lengths in (3, torch.ones(2, 2, dtype=torch.int64)):
        with pytest.raises(RuntimeError, match="1D"):
            rnn.pack_padded_sequence(torch.ones(3, 2), lengths)
    with pytest.raises(TypeError, match="input"):
        rnn.pack_padded_sequence("a", [1])
