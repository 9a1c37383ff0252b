"""Convolutions, pooling and normalisation in autograd: nodes, what is saved, modes, modules."""

from __future__ import annotations

import warnings

import pytest


def numbers(torch, *shape):
    count = 1
    for n in shape:
        count *= n
    return torch.arange(count, dtype=torch.float64).view(shape).sin()


NODES = {
    "ConvolutionBackward0": lambda t, x: t.conv2d(x, numbers(t, 3, 4, 2, 2)),
    "MaxPool2DWithIndicesBackward0": lambda t, x: t.nn.functional.max_pool2d(x, 2),
    "AvgPool2DBackward0": lambda t, x: t.nn.functional.avg_pool2d(x, 2),
    "AdaptiveAvgPool2DBackward0": lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 3),
    "AdaptiveMaxPool2DBackward0": lambda t, x: t.nn.functional.adaptive_max_pool2d(x, 3),
    "MeanBackward1": lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, 1),
    "ConstantPadNdBackward0": lambda t, x: t.nn.functional.pad(x, (1, 1)),
    "ReflectionPad2DBackward0": lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1), "reflect"),
    "ReplicationPad2DBackward0": lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1), "replicate"),
    "NativeBatchNormBackward0": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True),
    "NativeGroupNormBackward0": lambda t, x: t.nn.functional.group_norm(x, 2),
    "UpsampleNearest2DBackward0": lambda t, x: t.nn.functional.interpolate(x, scale_factor=2),
    "UpsampleBilinear2DBackward0": lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
    "UpsampleBicubic2DBackward0": lambda t, x: t.nn.functional.interpolate(x, scale_factor=2, mode="bicubic"),
    "PixelShuffleBackward0": lambda t, x: t.pixel_shuffle(x, 2),
    "Im2ColBackward0": lambda t, x: t.nn.functional.unfold(x, 2),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_have_the_names_of_torch(torch, name):
    x = numbers(torch, 2, 4, 6, 6).requires_grad_()
    assert NODES[name](torch, x).grad_fn.name() == name


def test_without_batch_a_convolution_is_squeezed(torch):
    x = numbers(torch, 4, 6, 6).requires_grad_()
    out = torch.conv2d(x, numbers(torch, 3, 4, 2, 2))
    assert out.shape == (3, 5, 5) and out.grad_fn.name().startswith("SqueezeBackward")
    assert out.grad_fn.next_functions[0][0].name() == "ConvolutionBackward0"


def test_a_convolution_knows_its_settings(torch):
    x, w = numbers(torch, 2, 4, 6, 6).requires_grad_(), numbers(torch, 4, 2, 2, 2).requires_grad_()
    node = torch.conv2d(x, w, None, 2, (1, 0), 1, 2).grad_fn
    assert (node._saved_stride, node._saved_padding, node._saved_dilation) == ((2, 2), (1, 0), (1, 1))
    assert node._saved_groups == 2 and node._saved_transposed is False
    assert torch.equal(node._saved_input, x) and torch.equal(node._saved_weight, w)


def test_only_what_gradients_need_is_saved(torch):
    x, w = numbers(torch, 2, 4, 6, 6), numbers(torch, 3, 4, 2, 2).requires_grad_()
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(tuple(t.shape)) or t, lambda t: t):
        torch.conv2d(x, w)
    assert (2, 4, 6, 6) in packed


def test_writing_to_a_saved_input_is_noticed(torch):
    x, w = numbers(torch, 2, 4, 6, 6), numbers(torch, 3, 4, 2, 2).requires_grad_()
    out = torch.conv2d(x, w)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_nan_wins_in_pooling_and_takes_the_gradient(torch):
    x = torch.tensor([[[float("nan"), 1.0, 2.0, 3.0], [1.0, float("nan"), float("-inf"), 5.0]]], requires_grad=True)
    out, where = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    assert where.tolist() == [[[5, 7]]] and bool(out[0, 0, 0].isnan())
    out.sum().backward()
    assert x.grad.tolist() == [[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]]


def test_the_first_of_equal_elements_gets_the_gradient(torch):
    x = torch.zeros(1, 4, 4, requires_grad=True)
    torch.nn.functional.max_pool2d(x, 2).sum().backward()
    assert x.grad.tolist() == [[[1.0, 0.0, 1.0, 0.0], [0.0] * 4] * 2]


def test_padding_never_wins(torch):
    x = torch.full((1, 2, 2), float("-inf"), requires_grad=True)
    out, where = torch.nn.functional.max_pool2d(x, 3, 1, 1, return_indices=True)
    assert out.tolist() == [[[float("-inf")] * 2] * 2] and where.tolist() == [[[0, 0], [0, 0]]]


def test_infinite_gradients_stay_where_they_belong(torch):
    x = torch.arange(4.0).view(1, 2, 2).requires_grad_()
    torch.nn.functional.max_pool2d(x, 2).backward(torch.full((1, 1, 1), float("inf")))
    assert x.grad.tolist() == [[[0.0, 0.0], [0.0, float("inf")]]]


def test_indices_have_no_gradient(torch):
    x = numbers(torch, 1, 4, 4).requires_grad_()
    out, where = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    assert out.requires_grad and not where.requires_grad and where.dtype is torch.int64


def test_a_gradient_penalty_through_a_network(torch):
    """The gradient of a gradient's norm by the weights, against differences."""
    w1, w2 = numbers(torch, 3, 2, 3, 3).requires_grad_(), numbers(torch, 1, 3, 2, 2).requires_grad_()
    x = numbers(torch, 2, 2, 6, 6).requires_grad_()

    def penalty(w1):
        hidden = torch.nn.functional.max_pool2d(torch.tanh(torch.conv2d(x, w1, padding=1)), 2)
        out = torch.nn.functional.conv_transpose2d(hidden, w2.transpose(0, 1), stride=2).sum()
        (g,) = torch.autograd.grad(out, x, create_graph=True)
        return g.pow(2).sum()

    (found,) = torch.autograd.grad(penalty(w1), w1)
    direction = numbers(torch, 3, 2, 3, 3).cos()
    step = 1e-6
    along = (penalty(w1 + step * direction) - penalty(w1 - step * direction)) / (2 * step)
    difference = ((found * direction).sum() - along).detach()
    assert abs(float(difference)) < 1e-5 * (1 + abs(float(along.detach())))


def test_batch_norm_counts_batches_and_follows_them(torch):
    layer = torch.nn.BatchNorm1d(2, momentum=0.5)
    layer(torch.tensor([[0.0, 0.0], [2.0, 4.0]]))
    assert layer.running_mean.tolist() == [0.5, 1.0] and layer.running_var.tolist() == [1.5, 4.5]
    assert int(layer.num_batches_tracked) == 1
    layer.eval()
    out = layer(torch.tensor([[0.5, 1.0]]))
    assert out.abs().max() < 1e-6 and int(layer.num_batches_tracked) == 1


def test_batch_norm_averages_without_momentum(torch):
    layer = torch.nn.BatchNorm1d(1, momentum=None)
    for value in (0.0, 2.0, 4.0):
        layer(torch.tensor([[value], [value + 2.0]]))
    assert layer.running_mean.tolist() == [3.0] and int(layer.num_batches_tracked) == 3


def test_two_forwards_before_one_backward(torch):
    layer = torch.nn.BatchNorm1d(2)
    x = numbers(torch, 3, 2).float().requires_grad_()
    (layer(x) * layer(x * 2 + 1)).sum().backward()
    assert x.grad is not None and layer.weight.grad.shape == (2,)


def test_batch_norm_without_statistics_uses_the_batch(torch):
    layer = torch.nn.BatchNorm1d(1, track_running_stats=False).eval()
    assert layer.running_mean is None and list(layer.state_dict()) == ["weight", "bias"]
    assert abs(float(layer(torch.tensor([[1.0], [3.0]])).detach().sum())) < 1e-6


def test_state_of_layers(torch):
    names = {
        "Conv2d": list(torch.nn.Conv2d(2, 3, 1).state_dict()),
        "ConvTranspose1d": list(torch.nn.ConvTranspose1d(2, 3, 1, bias=False).state_dict()),
        "BatchNorm2d": list(torch.nn.BatchNorm2d(3).state_dict()),
        "InstanceNorm2d": list(torch.nn.InstanceNorm2d(3).state_dict()),
        "GroupNorm": list(torch.nn.GroupNorm(1, 3).state_dict()),
        "EmbeddingBag": list(torch.nn.EmbeddingBag(3, 2).state_dict()),
        "FractionalMaxPool2d": list(torch.nn.FractionalMaxPool2d(2, 1).state_dict()),
    }
    assert names == {
        "Conv2d": ["weight", "bias"],
        "ConvTranspose1d": ["weight"],
        "BatchNorm2d": ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"],
        "InstanceNorm2d": [],
        "GroupNorm": ["weight", "bias"],
        "EmbeddingBag": ["weight"],
        "FractionalMaxPool2d": [],
    }


def test_an_old_checkpoint_has_no_count(torch):
    layer = torch.nn.BatchNorm1d(1)
    layer.load_state_dict({n: torch.ones(1) for n in ("weight", "bias", "running_mean", "running_var")})
    assert int(layer.num_batches_tracked) == 0


SHOWN = {
    "Conv2d(3, 4, kernel_size=(2, 2), stride=(1, 1))": lambda nn: nn.Conv2d(3, 4, 2),
    "Conv1d(2, 4, kernel_size=(3,), stride=(2,), padding=(1,), groups=2, bias=False)": lambda nn: nn.Conv1d(
        2, 4, 3, 2, 1, groups=2, bias=False
    ),
    "Conv2d(2, 4, kernel_size=(3, 1), stride=(1, 1), padding=same, padding_mode=reflect)": lambda nn: nn.Conv2d(
        2, 4, (3, 1), padding="same", padding_mode="reflect"
    ),
    "ConvTranspose2d(2, 4, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))": lambda nn: nn.ConvTranspose2d(
        2, 4, 3, 2, output_padding=1
    ),
    "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)": lambda nn: (
        nn.BatchNorm1d(3)
    ),
    "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)": lambda nn: nn.MaxPool2d(2),
    "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))": lambda nn: nn.AvgPool1d(2),
    "ZeroPad2d((1, 1, 1, 1))": lambda nn: nn.ZeroPad2d(1),
    "ConstantPad1d(padding=(1, 2), value=0.5)": lambda nn: nn.ConstantPad1d((1, 2), 0.5),
    "Upsample(scale_factor=2.0, mode='nearest')": lambda nn: nn.Upsample(scale_factor=2),
    "EmbeddingBag(3, 2, mode='sum', padding_idx=1)": lambda nn: nn.EmbeddingBag(3, 2, mode="sum", padding_idx=-2),
}


@pytest.mark.parametrize("text", SHOWN)
def test_layers_are_shown_alike(torch, text):
    assert repr(SHOWN[text](torch.nn)) == text


def test_padding_modes_pad_before_the_convolution(torch):
    for mode in ("reflect", "replicate", "circular"):
        layer = torch.nn.Conv1d(1, 1, 3, padding=1, padding_mode=mode, bias=False).double()
        x = numbers(torch, 1, 1, 5)
        padded = torch.nn.functional.pad(x, (1, 1), mode)
        assert torch.allclose(layer(x), torch.conv1d(padded, layer.weight))


def test_a_transposed_convolution_reaches_a_size(torch):
    layer = torch.nn.ConvTranspose1d(1, 1, 2, stride=3)
    x = torch.ones(1, 1, 4)
    assert layer(x).shape == (1, 1, 11) and layer(x, output_size=[13]).shape == (1, 1, 13)
    with pytest.raises(ValueError, match=r"valid sizes range from \[11\] to \[13\]"):
        layer(x, output_size=[14])


def test_deprecated_names_warn(torch):
    x = torch.ones(1, 1, 2, 2)
    for name in ("upsample", "upsample_nearest", "upsample_bilinear"):
        with pytest.warns(UserWarning, match=name):
            assert getattr(torch.nn.functional, name)(x, 4).shape == (1, 1, 4, 4)
    with pytest.warns(UserWarning, match="align_corners"):
        torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.nn.functional.grid_sample(x, torch.zeros(1, 1, 1, 2), align_corners=False)


def test_same_padding_of_even_windows(torch):
    x = torch.ones(1, 1, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.conv1d(x, torch.ones(1, 1, 2), padding="same").tolist() == [[[2.0, 2.0, 2.0, 1.0]]]


def test_integers(torch):
    x = torch.arange(16).view(1, 1, 4, 4)
    assert torch.conv2d(x, torch.ones(1, 1, 2, 2, dtype=torch.int64), stride=2).tolist() == [[[[10, 18], [42, 50]]]]
    assert torch.nn.functional.max_pool2d(x, 2).tolist() == [[[[5, 7], [13, 15]]]]
    assert torch.nn.functional.pad(x[0, 0, 0], (1, 1)).tolist() == [0, 0, 1, 2, 3, 0]


def test_a_small_network_learns(torch):
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3, padding=1),
        nn.GroupNorm(2, 8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 2),
    )
    rows = torch.zeros(8, 1, 8, 8)
    rows[:4, :, ::2] = 1.0
    rows[4:, :, :, ::2] = 1.0
    labels = torch.tensor([0] * 4 + [1] * 4)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(30):
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(rows), labels)
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 0.1
