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


def test_layers_of_empty_batches(torch):
    nn = torch.nn
    for layer in (nn.LSTM(3, 4), nn.GRU(3, 4), nn.RNN(3, 4)):
        assert layer(torch.ones(5, 0, 3))[0].shape == (5, 0, 4)
        with pytest.raises(RuntimeError, match="sequence length to be larger than 0"):
            layer(torch.ones(0, 2, 3))
    x = torch.ones(3, 2, 0, requires_grad=True)
    linear = nn.Linear(1, 4)
    linear.weight = nn.Parameter(torch.ones(4, 0))
    linear(x).sum().backward()
    assert x.grad.shape == (3, 2, 0) and linear.bias.grad.tolist() == [6] * 4
    attention = nn.MultiheadAttention(8, 2)
    for shape in ((0, 2, 8), (3, 0, 8)):
        x = torch.ones(shape, requires_grad=True)
        out, shares = attention(x, x, x)
        assert out.shape == shape and shares.shape == (shape[1], shape[0], shape[0])
        out.sum().backward()
        assert x.grad.shape == shape
        for training in (True, False):
            assert nn.TransformerEncoderLayer(8, 2, 16).train(training)(x).shape == shape
            assert nn.TransformerDecoderLayer(8, 2, 16).train(training)(x, x).shape == shape
    q = torch.ones(2, 0, 4, requires_grad=True)
    torch.nn.functional.scaled_dot_product_attention(q, q, q).sum().backward()
    assert q.grad.shape == (2, 0, 4)


def test_thresholds_keep_nan(torch):
    x = torch.tensor([float("nan"), 1.0, 5.0], requires_grad=True)
    out = torch.nn.functional.threshold(x, 3.0, 2.0)
    out.backward(torch.tensor([7.0, 7.0, 7.0]))
    assert out.tolist()[1:] == [2, 5] and bool(out[0].isnan()) and x.grad.tolist() == [7, 0, 7]


def test_numbers_beside_results_make_a_tensor(torch):
    import warnings

    loss = torch.tensor(2.0, requires_grad=True) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns that the graph is lost
        for data, expected in (
            ([0, loss], [0, 4]),
            ([[0, loss], [1.5, loss]], [[0, 4], [1.5, 4]]),
            ([True, loss], [1, 4]),
        ):
            made = torch.tensor(data)
            assert made.tolist() == expected and made.dtype is torch.float32 and not made.requires_grad


def test_inputs_that_keep_their_gradient_are_checked(torch):
    x = torch.tensor([0.5, 1.0], dtype=torch.float64, requires_grad=True) * 2  # no leaf
    for _ in range(2):
        assert torch.autograd.gradcheck(lambda t: t.sin(), (x,), check_batched_grad=True)


def test_the_other_name_of_a_gradient(torch):
    w = torch.nn.Parameter(torch.ones(2))
    w._grad = torch.ones(2)
    assert w.grad is w._grad and w.grad.tolist() == [1, 1]


def test_classes_beside_modules(torch):
    class Named:
        def __init__(self, *args, **kwargs):
            super().__init__()
            self.named = args, kwargs

    class Apart(torch.nn.Module, Named):
        pass

    class Together(torch.nn.Module, Named):
        call_super_init = True

    assert not hasattr(Apart(), "named") and Together(1, a=2).named == ((1,), {"a": 2})
    for args, kwargs in (((1,), {}), ((), {"a": 2})):
        with pytest.raises(TypeError, match="__init__"):
            Apart(*args, **kwargs)


def test_states_that_are_half_defined(torch):
    class Gives(torch.nn.Module):
        def get_extra_state(self):
            return 3

    class Takes(torch.nn.Module):
        def set_extra_state(self, state):
            self.state = state

    with pytest.raises(RuntimeError, match="Unexpected key"):
        Gives().load_state_dict(Gives().state_dict())
    with pytest.raises(RuntimeError, match="Missing key"):
        Takes().load_state_dict({})
    taken = Takes()
    taken.load_state_dict(Gives().state_dict())
    assert taken.state == 3
    layer = torch.nn.Linear(1, 1, bias=False)
    with pytest.raises(RuntimeError, match="or Tensor-like object from checkpoint"):
        layer.load_state_dict({"weight": [[1.0]]})
    again = torch.nn.Linear(2, 2)
    again.__setstate__({k: v for k, v in torch.nn.Linear(2, 2).__dict__.items() if k != "_forward_hooks"})
    assert again(torch.ones(2)).shape == (2,)


def test_what_is_applied_in_place_is_noticed(torch):
    layer = torch.nn.Linear(2, 2)
    weight, version = layer.weight, layer.weight._version
    loss = (weight * weight).sum()
    layer._apply(lambda t: t.add_(1))
    assert layer.weight is weight and weight._version > version
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (("cpu", True), {}),
        ((None, True), {}),
        (([],), {}),
        (({},), {"non_blocking": True}),
        (("cpu", 3), {}),
        (("cpu",), {"other": 1}),
        ((), {"dtype": "a"}),
        ((), {"memory_format": 3}),
    ],
)
def test_places_that_there_are_not(torch, args, options):
    layer = torch.nn.Linear(2, 2)
    with pytest.raises(TypeError, match=r"to\(\) received an invalid combination"):
        layer.to(*args, **options)


def test_where_layers_go(torch):
    layer = torch.nn.Linear(2, 2)
    with pytest.raises(RuntimeError, match="copy"):
        layer.to("cpu", copy=True)
    assert layer.to("cpu", torch.float64, True).weight.dtype is torch.float64
    with pytest.warns(UserWarning, match="Complex modules"):
        assert layer.to(torch.complex64).weight.dtype is torch.complex64


def test_sizes_that_are_no_sizes(torch):
    for sizes, words in (((2, 5.0), "float at pos 1"), ([(3,)], "tuple at pos 0"), (3, "int")):
        with pytest.raises(TypeError, match=words):
            torch.nn.Unflatten(1, sizes)
    F = torch.nn.functional
    with pytest.raises(ValueError, match="output_ratio"):
        F.fractional_max_pool2d(torch.ones(1, 2, 9, 9), 2, output_ratio=(0.5, 0.5, 0.5))
    for one, other in (((2, 3), (3,)), ((0, 0), (0,))):
        with pytest.raises(RuntimeError, match="2D"):
            F.cosine_embedding_loss(torch.ones(one), torch.ones(other), torch.ones(one[0]))
    with pytest.raises(RuntimeError, match="size 1 in last dimension"):
        F.grid_sample(torch.ones(1, 2, 2), torch.ones(1, 1, 1, 2), align_corners=False)


def test_a_copy_keeps_the_order_of_parameters(torch):
    made = torch.nn.ParameterDict([("b", torch.ones(1)), ("a", torch.ones(1))])
    assert list(made.copy()) == list(made | torch.nn.ParameterDict()) == ["b", "a"]


def test_numbers_that_keep_a_division_from_zero(torch):
    F, x = torch.nn.functional, torch.randn(4, 6)
    for eps in (0.0, -1.0):
        with pytest.raises(ValueError, match="eps must be positive"):
            F.batch_norm(x, None, None, training=True, eps=eps)
        with pytest.raises(ValueError, match="eps must be positive"):
            torch.nn.BatchNorm1d(6, eps=eps)(x)
    with pytest.raises(ValueError, match="eps must be non-negative"):
        F.batch_norm(x, torch.ones(6), torch.ones(6), eps=-1.0)
    assert torch.equal(F.batch_norm(x, torch.zeros(6), torch.ones(6), eps=0.0), x)


def test_a_large_group_is_normalised_exactly(torch):
    x = torch.rand(1, 2, 1500, 1501)
    out = torch.nn.functional.group_norm(x, 1)
    assert torch.allclose(out.double(), torch.nn.functional.group_norm(x.double(), 1), rtol=0, atol=2e-6)


def test_padding_without_weights(torch):
    attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(2, 3, 8, requires_grad=True)
    hidden = torch.tensor([[False, False, True], [False, True, True]])
    out, shares = attention(x, x, x, key_padding_mask=hidden, need_weights=False)
    assert shares is None
    assert torch.allclose(out, attention(x, x, x, key_padding_mask=hidden)[0], atol=1e-6)
    layer = torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True, dropout=0.0)
    assert layer(x, x, tgt_key_padding_mask=hidden, memory_key_padding_mask=hidden).shape == x.shape


def test_fractional_pooling_takes_samples_of_more_examples(torch):
    pool, x, samples = torch.nn.functional.fractional_max_pool3d, torch.rand(4, 6, 6, 6), torch.rand(2, 4, 3)
    expected = pool(x, 2, output_size=3, _random_samples=samples[:1])
    assert torch.equal(pool(x, 2, output_size=3, _random_samples=samples), expected)
    with pytest.raises(RuntimeError, match="_random_samples"):
        pool(x.expand(3, 4, 6, 6, 6), 2, output_size=3, _random_samples=samples)
