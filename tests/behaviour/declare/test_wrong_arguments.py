"""Arguments that are no tensors, no numbers, no flags: the TypeError of torch, and nothing is changed."""

from __future__ import annotations

import warnings

import pytest

# Functions that are composed of others, with the arguments after the first.
COMPOSED = {
    "cumsum": (0,), "cumprod": (0,), "logcumsumexp": (0,), "argsort": (), "sort": (), "allclose": (None,),
    "as_strided": ((1,), (1,)), "chunk": (2,), "cov": (), "corrcoef": (), "tensor_split": (2,),
    "std_mean": (), "quantile": (0.5,), "unique": (), "flip": (0,), "rot90": (), "roll": (1,), "movedim": (0, 1),
    "bincount": (), "histc": (), "searchsorted": (1.0,), "index_add": (0, 1, 1), "repeat_interleave": (2,),
    "diag_embed": (), "nansum": (), "logsumexp": (0,), "renorm": (1, 0, 1.0), "trapezoid": (),
    "linalg.inv": (), "linalg.cholesky": (), "linalg.svd": (), "linalg.norm": (), "linalg.matrix_power": (2,),
    "fft.fft": (), "fft.rfft2": (), "fft.fftshift": (), "special.logit": (), "special.polygamma": (),
    "nn.functional.max_pool2d": (2,), "nn.functional.layer_norm": ((2,),), "nn.functional.conv1d": (None,),
    "nn.functional.cross_entropy": (None,), "nn.functional.batch_norm": (None, None),
    "nn.functional.softplus": (), "nn.functional.one_hot": (), "nn.functional.glu": (),
}  # fmt: skip


def found(torch, path):
    for part in path.split("."):
        torch = getattr(torch, part)
    return torch


@pytest.mark.parametrize("path", COMPOSED)
@pytest.mark.parametrize("value", [None, "a", 3, [1.0], {}], ids=lambda v: type(v).__name__)
def test_a_first_argument_that_is_no_tensor(torch, path, value):
    if path == "special.polygamma":
        pytest.skip("takes its order first") if isinstance(value, int) else None
    with pytest.raises((TypeError, AttributeError) if path.startswith("nn.") else TypeError) as caught:
        found(torch, path)(value, *COMPOSED[path])
    assert type(value).__name__ in str(caught.value) or "argument" in str(caught.value)


OPTIONS = [
    (lambda t, v: t.std(t.ones(2), keepdim=v), (None, "a", 1, [True])),
    (lambda t, v: t.amax(t.ones(2), 0, v), (None, "a", 1)),
    (lambda t, v: t.argsort(t.ones(2), descending=v), (None, "a", 1, 0.5)),
    (lambda t, v: t.linalg.cholesky(t.eye(2), upper=v), (None, "a", 1, 0.5, [True])),
    (lambda t, v: t.topk(t.ones(2), 1, largest=v), (None, "a", 1)),
    (lambda t, v: t.add(t.ones(2), 1, alpha=v), (None, "a", [1], {})),
    (lambda t, v: t.ones(2).add_(1, alpha=v), (None, "a", [1], {})),
    (lambda t, v: t.addmm(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2), beta=v), (None, "a", [1])),
    (lambda t, v: t.diag_embed(t.ones(2), v), (None, "a", 0.5)),
    (lambda t, v: t.index_put(t.ones(2), (t.tensor([0]),), t.ones(1), v), (None, "a", 1)),
    (lambda t, v: t.ones_like(t.ones(2), memory_format=v), ("a", 1)),
    (lambda t, v: t.ones_like(t.ones(2), layout=v), ("a", 1)),
    (lambda t, v: t.softmax(t.ones(2), v), (None, "a", 0.5)),
]


@pytest.mark.parametrize(("case", "value"), [(i, v) for i, (_, values) in enumerate(OPTIONS) for v in values], ids=str)
def test_an_option_of_another_kind(torch, case, value):
    with pytest.raises(TypeError, match=r"must be|invalid combination"):
        OPTIONS[case][0](torch, value)


def test_what_numbers_stand_for_is_taken(torch):
    import numpy as np

    x = torch.tensor([3.0, 1.0])
    assert torch.add(x, 1, alpha=np.float64(2.0)).tolist() == [5.0, 3.0]
    assert torch.add(x, 1, alpha=torch.tensor(2.0)).tolist() == [5.0, 3.0]
    assert x.sort(np.int64(0)).values.tolist() == [1.0, 3.0]
    assert torch.nn.functional.leaky_relu(-x, torch.tensor(2.0)).tolist() == [-6.0, -2.0]


def test_a_dimension_of_more_than_64_bits(torch):
    for call in (lambda d: torch.argsort(torch.ones(2), d), lambda d: torch.cumsum(torch.ones(2), d)):
        with pytest.raises(ValueError):
            call(2**70)


def test_an_in_place_form_called_on_something_else(torch):
    for value in (None, "a", 3, [1.0]):
        with pytest.raises(TypeError):
            torch.Tensor.add_(value, 1)
        with pytest.raises(TypeError):
            torch.Tensor.cumsum(value, 0)


def test_nothing_is_changed(torch):
    x = torch.tensor([3.0, 1.0], requires_grad=True)
    y = x * 1
    for call in (
        lambda: y.add_(1, alpha="a"),
        lambda: torch.cumsum(y, 0, dtype="a"),
        lambda: torch.std(y, keepdim="a"),
        lambda: torch.sort(y, dim="a"),
    ):
        with pytest.raises((TypeError, RuntimeError)):
            call()
    assert y._version == 0 and torch.is_grad_enabled()
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_what_a_hook_raises_comes_out_as_it_is(torch):
    class OddError(KeyError):
        pass

    def pack(t):
        raise OddError("mine")

    x = torch.tensor([3.0, 1.0], requires_grad=True)
    for call in (lambda: torch.cumprod(x, 0), lambda: torch.nn.functional.softplus(x), lambda: torch.linalg.norm(x)):
        with pytest.raises(OddError, match="mine"), torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            call()


def test_no_warning_for_what_is_right(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.cumsum(torch.ones(2), dim=0).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "cumsum", "cumprod"])
def test_a_reduction_to_integers_has_no_gradient(torch, name, dtype):
    if dtype == "bool" and name.startswith("cum"):
        pytest.skip("refused at once")
    x = torch.ones(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Autograd not support dtype: (Long|Byte|Bool)"):
        getattr(torch, name)(x, 0, dtype=getattr(torch, dtype))
    assert not getattr(torch, name)(x.detach(), 0, dtype=getattr(torch, dtype)).requires_grad


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_there_are_no_running_sums_of_bools(torch, name):
    with pytest.raises(NotImplementedError, match=f'"{name}_out_cpu" not implemented for .Bool'):
        getattr(torch, name)(torch.ones(2), 0, dtype=torch.bool)


def test_counts_have_no_gradient(torch):
    for x in (torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True).cumsum(0)):
        assert not torch.histc(x, 4, -2, 2).requires_grad
        assert torch.histc(x[1:], 4, -2, 2).grad_fn is None


def test_the_target_of_a_soft_margin_has_no_gradient(torch):
    with pytest.raises(RuntimeError, match="'soft_margin_loss' is not differentiable with respect to"):
        torch.nn.functional.soft_margin_loss(torch.ones(2), torch.ones(2, requires_grad=True))
    torch.nn.functional.soft_margin_loss(torch.ones(2, requires_grad=True), torch.ones(2)).backward()


def test_nan_is_no_probability(torch):
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        torch.nn.functional.binary_cross_entropy(torch.tensor([float("nan")]), torch.tensor([0.5]))


@pytest.mark.parametrize("name", ["hypot_", "atan2_", "logical_and_", "nextafter_", "heaviside_", "gcd_"])
def test_a_number_is_no_operand_whatever_it_is_written_to(torch, name):
    leaf = torch.ones(2, requires_grad=True)
    for x in (torch.ones(2), leaf, leaf[1:], torch.ones(1).expand(2)):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument '\w+' \(position 1\) must be Tensor, not float"):
            getattr(x, name)(2.0)


def test_methods_say_their_own_name(torch, real):
    if real:
        pytest.skip("names every overload")
    with pytest.raises(TypeError, match=r"^index_add_\(\): argument 'index'"):
        torch.ones(2).index_add_(0, 1, torch.ones(2))
    with pytest.raises(TypeError, match=r"^expand_as\(\): argument 'other' \(position 1\)"):
        torch.ones(2).expand_as(1)


def test_requires_grad_is_set_of_leaves_only(torch):
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        x.requires_grad = True
    with pytest.raises(RuntimeError, match="use var_no_grad ="):
        x.requires_grad = False
    assert x.requires_grad_() is x


def test_histogram_of_what_is_no_histogram(torch):
    x = torch.ones(3)
    for arguments in ({"bins": "a"}, {"bins": 3, "range": 1}, {"bins": torch.ones(2), "range": (0.0, 1.0)}):
        with pytest.raises(TypeError, match=r"histogram\(\)"):
            torch.histogram(x, **arguments)


def test_hash_tensor_of_all_dimensions(torch):
    x = torch.arange(6.0).reshape(2, 3)
    whole = torch.hash_tensor(x)
    assert torch.hash_tensor(x, None).item() == whole.item()
    assert torch.hash_tensor(x, None, keepdim=True).tolist() == [[whole.item()]]


def test_linear_of_what_is_no_matrix(torch):
    linear, weight, bias = torch.nn.functional.linear, torch.ones(4, 3), torch.ones(4)
    with pytest.raises(RuntimeError, match="both arguments to linear need to be at least 1D, but they are 0D and 2D"):
        linear(torch.tensor(1.0), weight, bias)
    with pytest.raises(RuntimeError, match=r"expects a .* with <= 2 dimensions, but .* 3D"):
        linear(torch.ones(2, 3), weight[None])
