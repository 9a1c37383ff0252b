"""Images whose channels come last in memory stay so."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "make",
    [
        lambda nn: nn.Conv2d(3, 4, 3),
        lambda nn: nn.ConvTranspose2d(3, 4, 3),
        lambda nn: nn.MaxPool2d(2),
        lambda nn: nn.AvgPool2d(2),
        lambda nn: nn.AdaptiveAvgPool2d(3),
        lambda nn: nn.AdaptiveMaxPool2d(3),
        lambda nn: nn.Upsample(scale_factor=2),
        lambda nn: nn.BatchNorm2d(3),
        lambda nn: nn.Dropout(0.5),
        lambda nn: nn.ReLU(),
        lambda nn: nn.GELU(),
        lambda nn: nn.GroupNorm(3, 3),
        lambda nn: nn.ZeroPad2d(1),
        lambda nn: nn.ReflectionPad2d(1),
        lambda nn: nn.PixelUnshuffle(2),
        lambda nn: nn.ChannelShuffle(3),
    ],
)
def test_layers_keep_it(torch, make):
    layer, form = make(torch.nn), torch.channels_last
    plain = torch.randn(2, 3, 6, 6).requires_grad_()
    x = plain.detach().to(memory_format=form).requires_grad_()
    torch.manual_seed(0)
    out = layer(x)
    torch.manual_seed(0)
    same = layer(plain)
    assert out.is_contiguous(memory_format=form) and same.is_contiguous()
    if not isinstance(layer, torch.nn.Dropout):  # torch draws its numbers in the order of memory
        assert torch.allclose(out, same, atol=1e-6)
    out.sum().backward()
    same.sum().backward()
    assert x.grad.is_contiguous(memory_format=form)
    if not isinstance(layer, torch.nn.Dropout):
        assert torch.allclose(x.grad, plain.grad, atol=1e-6)


def test_volumes(torch):
    x = torch.randn(2, 3, 4, 4, 4).to(memory_format=torch.channels_last_3d)
    for layer in torch.nn.Conv3d(3, 2, 2), torch.nn.MaxPool3d(2):
        assert layer(x).is_contiguous(memory_format=torch.channels_last_3d)


def test_a_module_changes_the_format_of_its_weights(torch):
    net = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 2), torch.nn.Linear(3, 2)).to(memory_format=torch.channels_last)
    assert net[0].weight.is_contiguous(memory_format=torch.channels_last) and net[1].weight.is_contiguous()
    out = net[0](torch.randn(2, 16, 4, 4))
    assert out.is_contiguous(memory_format=torch.channels_last)


def test_packed_sequences_change_their_dtype(torch):
    packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2), torch.ones(1)])
    for name in "byte char short int long half float double".split():
        assert getattr(packed, name)().data.dtype is getattr(torch.ones(1), name)().dtype


def test_windows_that_do_not_fit(torch):
    nn, F = torch.nn, torch.nn.functional
    for layer, shape in ((nn.AdaptiveMaxPool1d(3), (1, 0, 5)), (nn.AdaptiveMaxPool2d(3), (1, 0, 5, 5))):
        with pytest.raises(RuntimeError, match="non-zero size for non-batch dimensions"):
            layer(torch.zeros(shape))
    assert nn.FractionalMaxPool2d(2, output_size=(0, 1))(torch.rand(2, 3, 8, 8)).shape == (2, 3, 0, 1)
    for name, value in (("kernel_size", (1,)), ("output_size", (3,))):
        with pytest.raises(RuntimeError, match=f"{name} must either"):
            F.fractional_max_pool2d(torch.rand(1, 7, 7), **{"kernel_size": 2, "output_size": 3, name: value})


def test_rows_that_a_bag_does_not_have(torch):
    table = torch.randn(10, 2)
    for row in -1, 11:
        with pytest.raises(RuntimeError, match="Expected idx >= 0 && idx < num_embeddings"):
            torch.nn.functional.embedding_bag(torch.tensor([[row, 1]]), table, mode="max")
    with pytest.raises(RuntimeError, match="offsets has to be a 1D Tensor"):
        torch.embedding_bag(table, torch.tensor([1]), torch.tensor([[0]]))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_reparametrising_a_lazy_layer(torch):
    for norm in torch.nn.utils.spectral_norm, torch.nn.utils.weight_norm:
        with pytest.raises(ValueError, match="can't have uninitialized parameters"):
            norm(torch.nn.LazyLinear(2))


def test_sharing_memory_of_modules(torch):
    layer = torch.nn.Linear(1, 2)
    assert layer.share_memory() is layer
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized parameter or buffer"):
        torch.nn.LazyLinear(2).share_memory()


def test_places_of_maxima_too(torch):
    F, form = torch.nn.functional, torch.channels_last
    plain = torch.randn(2, 4, 6, 6)
    x = plain.to(memory_format=form)
    for pool in (lambda t: F.max_pool2d(t, 2, return_indices=True), lambda t: F.adaptive_max_pool2d(t, 3, True)):
        values, places = pool(x)
        assert values.is_contiguous(memory_format=form) and places.is_contiguous(memory_format=form)
        assert torch.equal(places, pool(plain)[1])
        back = F.max_unpool2d(values, places, 2)
        assert back.is_contiguous(memory_format=form)
        assert torch.equal(back, F.max_unpool2d(*pool(plain), 2))


def test_part_of_the_channels(torch):
    F, form = torch.nn.functional, torch.channels_last
    x = torch.randn(2, 4, 6, 6).to(memory_format=form)[:, ::2]
    assert F.max_pool2d(x, 2).is_contiguous(memory_format=form)
    assert F.adaptive_avg_pool2d(x, 3).is_contiguous(memory_format=form)


def test_expanded_channels_are_not_last(torch):
    F = torch.nn.functional
    x = torch.ones(1).expand(2, 3, 4, 4)
    assert F.max_pool2d(x, 2).is_contiguous() and F.dropout(x, 0.5).is_contiguous()
    leaf = torch.ones(2, 3, 4, 4, requires_grad=True)
    assert torch.autograd.grad(F.dropout(leaf, 0.5).sum(), leaf)[0].is_contiguous()


def test_one_volume_without_a_batch(torch):
    x = torch.randn(1, 4, 6, 6, 6).to(memory_format=torch.channels_last_3d)[0]
    for out in torch.nn.functional.max_pool3d(x, 2, return_indices=True):
        assert out[None].is_contiguous(memory_format=torch.channels_last_3d)


def test_random_numbers_like_others(torch):
    x = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    for make in (torch.rand_like, torch.randn_like, lambda t, **k: torch.randint_like(t, 5, **k)):
        assert make(x).stride() == x.stride()
        assert make(torch.ones(3, 4).t()).stride() == (1, 4)
        assert make(x, memory_format=torch.contiguous_format).is_contiguous()
        assert make(x.contiguous(), memory_format=torch.channels_last).stride() == x.stride()
