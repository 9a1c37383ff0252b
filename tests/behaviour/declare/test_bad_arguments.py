"""Numbers, sizes, flags and outputs that are almost right: refused as what they are, and nothing is changed."""

from __future__ import annotations

import numpy as np
import pytest

BEYOND = 2**70

# A call with an argument of one kind, values that it does not take, and the error.
INTS = {
    "cumsum": lambda t, v: t.cumsum(t.ones(2, 2), v),
    "cummax": lambda t, v: t.cummax(t.ones(2, 2), v),
    "topk": lambda t, v: t.topk(t.ones(2, 2), 1, v),
    "softmax": lambda t, v: t.softmax(t.ones(2, 2), v),
    "argmax": lambda t, v: t.argmax(t.ones(2, 2), v),
    "unsqueeze": lambda t, v: t.ones(2, 2).unsqueeze(v),
    "transpose": lambda t, v: t.ones(2, 2).transpose(v, 0),
    "gather": lambda t, v: t.gather(t.ones(2, 2), v, t.tensor([[0]])),
    "index_add": lambda t, v: t.index_add(t.ones(2, 2), v, t.tensor([0]), t.ones(1, 2)),
    "diff": lambda t, v: t.diff(t.ones(2, 2), v),
    "chunk": lambda t, v: t.chunk(t.ones(2, 2), v),
    "flatten": lambda t, v: t.flatten(t.ones(2, 2), v),
    "matrix_power": lambda t, v: t.linalg.matrix_power(t.ones(2, 2), v),
    "diag_embed": lambda t, v: t.diag_embed(t.ones(2, 2), v),
}


@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("value", [True, 0.5, "a", [[0]], 1j, np.array([0, 0]), np.float32(0.0), {}], ids=repr)
def test_what_is_no_int(torch, name, value):
    with pytest.raises(TypeError):
        INTS[name](torch, value)


@pytest.mark.parametrize("name", sorted(set(INTS) - {"diff", "diag_embed"}))
def test_an_int_of_more_than_64_bits(torch, name):
    for value in (BEYOND, -BEYOND):
        with pytest.raises(ValueError):
            INTS[name](torch, value)


def test_what_stands_for_an_int_is_taken(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for dim in (np.int64(0), np.int32(0), torch.tensor(0)):
        assert torch.cumsum(x, dim).tolist() == [[1.0, 2.0], [4.0, 6.0]]
        assert torch.cummax(x, dim).values.tolist() == x.tolist()
        assert x.unsqueeze(dim).shape == (1, 2, 2)


DIMS = {
    "sum": lambda t, v: t.sum(t.ones(2, 2), v),
    "amax": lambda t, v: t.amax(t.ones(2, 2), v),
    "logsumexp": lambda t, v: t.logsumexp(t.ones(2, 2), v),
    "fftn": lambda t, v: t.fft.fftn(t.ones(2, 2), dim=v),
    "fftn sizes": lambda t, v: t.fft.fftn(t.ones(2, 2), s=v),
    "fftshift": lambda t, v: t.fft.fftshift(t.ones(2, 2), v),
    "flip": lambda t, v: t.flip(t.ones(2, 2), v),
    "broadcast_to": lambda t, v: t.broadcast_to(t.ones(2, 2), v),
    "as_strided": lambda t, v: t.as_strided(t.ones(2, 2), v, (1,)),
}


@pytest.mark.parametrize("name", DIMS)
@pytest.mark.parametrize("value", [(0.5,), (True, 1), ("a",), (None,), ((0,),), np.array([0]), {}, "a", 0.5], ids=repr)
def test_what_is_no_tuple_of_ints(torch, name, value):
    with pytest.raises(TypeError):
        DIMS[name](torch, value)


@pytest.mark.parametrize("name", DIMS)
def test_a_tuple_with_an_int_of_more_than_64_bits(torch, name):
    with pytest.raises(TypeError):
        DIMS[name](torch, (BEYOND,))


NUMBERS = {
    "add": lambda t, v: t.add(t.ones(2), t.ones(2), alpha=v),
    "add_": lambda t, v: t.ones(2).add_(t.ones(2), alpha=v),
    "addmm": lambda t, v: t.addmm(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2), beta=v),
    "addcmul": lambda t, v: t.addcmul(t.ones(2), t.ones(2), t.ones(2), value=v),
    "exponential_": lambda t, v: t.ones(2).exponential_(v),
    "cauchy_": lambda t, v: t.ones(2).cauchy_(0.0, v),
    "isclose": lambda t, v: t.isclose(t.ones(2), t.ones(2), rtol=v),
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["a", [1.0], None, {}, np.array(1.0), np.array([1.0, 2.0])], ids=repr)
def test_what_is_no_number(torch, name, value):
    with pytest.raises(TypeError):
        NUMBERS[name](torch, value)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_tensor_with_dimensions_is_no_number(torch, name):
    with pytest.raises(TypeError):
        NUMBERS[name](torch, torch.ones(1))


@pytest.mark.parametrize("name", ["add", "add_", "addmm", "addcmul"])
def test_a_factor_of_more_than_64_bits(torch, name):
    for value in (BEYOND, -BEYOND):
        with pytest.raises(OverflowError):
            NUMBERS[name](torch, value)


FLAGS = {
    "amax": lambda t, v: t.amax(t.ones(2, 2), 0, v),
    "argsort": lambda t, v: t.argsort(t.ones(2), descending=v),
    "cholesky": lambda t, v: t.linalg.cholesky(t.eye(2), upper=v),
    "svd": lambda t, v: t.linalg.svd(t.eye(2), full_matrices=v),
    "dropout": lambda t, v: t.nn.functional.dropout(t.ones(2), training=v),
    "Parameter": lambda t, v: t.nn.Parameter(t.ones(2), requires_grad=v),
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [np.bool_(True), None, 1, "a", [True]], ids=repr)
def test_what_is_no_flag(torch, name, value):
    with pytest.raises(TypeError):
        FLAGS[name](torch, value)


GRAPH = {
    "grad create": lambda t, y, x, v: t.autograd.grad(y, x, create_graph=v),
    "grad retain": lambda t, y, x, v: t.autograd.grad(y, x, retain_graph=v),
    "grad unused": lambda t, y, x, v: t.autograd.grad(y, x, allow_unused=v),
    "grad materialize": lambda t, y, x, v: t.autograd.grad(y, x, materialize_grads=v),
    "backward create": lambda t, y, x, v: y.backward(create_graph=v),
    "backward retain": lambda t, y, x, v: t.autograd.backward(y, retain_graph=v),
}


@pytest.mark.parametrize("name", GRAPH)
@pytest.mark.parametrize("value", ["a", 1.5, [1], (), {}], ids=repr)
def test_flags_of_backward(torch, name, value):
    x = torch.ones(3, requires_grad=True)
    y = (x * x).sum()
    with pytest.raises(TypeError):
        GRAPH[name](torch, y, x, value)
    with pytest.raises(OverflowError):
        GRAPH[name](torch, y, x, -1)
    assert x.grad is None and torch.is_grad_enabled()
    y.backward()  # nothing was freed
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_an_integer_of_a_byte_is_a_flag_of_backward(torch):
    x = torch.ones(3, requires_grad=True)
    y = (x * x).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=1)
    assert g.requires_grad
    torch.autograd.grad(y, x, retain_graph=1)
    torch.autograd.grad(y, x)


def test_no_result_is_written_to_another_device(torch):
    for call in (
        lambda o: torch.add(torch.ones(2), 1, out=o),
        lambda o: torch.cumsum(torch.ones(2), 0, out=o),
        lambda o: torch.cat([torch.ones(1), torch.ones(1)], out=o),
        lambda o: torch.linalg.inv(torch.eye(2), out=o),
    ):
        out = torch.empty(2, device="meta")
        with pytest.raises(RuntimeError, match="device"):
            call(out)
        assert out.device.type == "meta" and out.shape == (2,)


def test_windows_of_more_than_64_bits_and_from_tensors(torch):
    x, f = torch.ones(1, 2, 6), torch.nn.functional
    assert f.avg_pool1d(x, torch.tensor(2)).shape == (1, 2, 3)
    assert f.avg_pool1d(x, 2, stride=torch.tensor([3])).shape == (1, 2, 2)
    assert f.adaptive_avg_pool1d(x, torch.tensor(3)).shape == (1, 2, 3)
    assert f.conv1d(x, torch.ones(2, 1, 3), groups=torch.tensor(2)).shape == (1, 2, 4)
    for value, error in ((BEYOND, ValueError), ((BEYOND,), TypeError), (torch.tensor(1.5), TypeError)):
        with pytest.raises(error):
            f.avg_pool1d(x, value)
        with pytest.raises(error):
            f.conv1d(x, torch.ones(2, 2, 3), stride=value)
    with pytest.raises(ValueError):
        f.conv1d(x, torch.ones(2, 2, 3), groups=BEYOND)


def test_sizes_of_more_than_64_bits(torch):
    for make in (torch.zeros, torch.ones, torch.empty, torch.rand):
        with pytest.raises(TypeError):
            make(BEYOND)
        with pytest.raises(TypeError):
            make((2, BEYOND))


def test_numbers_of_numpy_that_no_operation_can_take_for_tensors(torch):
    for call in (
        lambda v: torch.cumsum(v, 1),
        lambda v: torch.linalg.inv(v),
        lambda v: torch.topk(v, 3),
        lambda v: torch.addcmul(torch.ones(2), v, torch.ones(2)),
        lambda v: torch.atan2(torch.ones(2), v),
    ):
        with pytest.raises(TypeError):
            call(np.float32(2.5))


@pytest.mark.parametrize("value", [2.5, "a", [1.0], {}], ids=repr)
def test_functions_that_are_python_miss_an_attribute(torch, value):
    for call in (torch.norm, torch.masked.sum, torch.nn.functional.normalize):
        with pytest.raises(AttributeError):
            call(value)


def test_names_that_are_bytes_are_names_of_nothing(torch):
    with pytest.raises(RuntimeError):
        torch.zeros(2, device=b"a")
    with pytest.raises(RuntimeError):
        torch.fft.fft(torch.ones(2), norm=b"a")
    with pytest.raises(RuntimeError):
        torch.div(torch.ones(2), 2, rounding_mode=b"a")


def test_numbers_are_copied(torch):
    x = torch.zeros(2)
    for value, expected in ((2.5, [2.5, 2.5]), (True, [1.0, 1.0]), (3, [3.0, 3.0])):
        assert x.copy_(value) is x and x.tolist() == expected
    assert torch.zeros(2, dtype=torch.int64).copy_(2.7).tolist() == [2, 2]
    leaf = torch.ones(2, requires_grad=True)
    y = leaf * 1
    y.copy_(3.0)
    y.sum().backward()
    assert leaf.grad.tolist() == [0.0, 0.0]


def test_numbers_of_numpy_are_numbers(torch):
    for value in (np.float32(2.5), np.float64(2.5), np.int64(3)):
        x = torch.zeros(2)
        expected = [float(value)] * 2
        assert x.fill_(value).tolist() == expected
        assert x.masked_fill(torch.tensor([True, True]), value).tolist() == expected
        assert x.index_fill(0, torch.tensor([0, 1]), value).tolist() == expected
        assert torch.zeros(2).copy_(value).tolist() == expected
    assert [p.tolist() for p in torch.hsplit(torch.tensor([1, 2]), np.int64(2))] == [[1], [2]]


def test_batches_that_lack_dimensions(torch):
    x = torch.ones(2, 2, 2)
    for call in (torch.baddbmm, torch.addbmm):
        for batches in ((x, x[0]), (x[0, 0], x), (x, x[0, 0])):
            with pytest.raises(IndexError):
                call(torch.ones(2, 2), *batches)
        with pytest.raises(RuntimeError):
            call(torch.ones(2, 2), x[0], x)


def test_factors_of_one_dtype(torch):
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.cholesky_solve(torch.ones(2, 1, dtype=torch.float64), torch.eye(2))


def test_flags_of_functional(torch):
    f = torch.autograd.functional
    for call in (f.jacobian, f.hessian, f.vjp):
        for value, error in (("a", TypeError), (None, TypeError), (-1, OverflowError)):
            with pytest.raises(error):
                call(lambda x: (x * x).sum(), torch.ones(2), create_graph=value)


def test_conversions_have_no_positional_arguments(torch):
    for name in ("float", "double", "half", "bfloat16", "int", "long", "bool", "cpu"):
        with pytest.raises(TypeError):
            getattr(torch.ones(2), name)(None)


def test_what_was_refused_has_changed_nothing(torch):
    leaf = torch.ones(3, requires_grad=True)
    x, out = leaf * 1, torch.zeros(3)
    state = torch.random.get_rng_state()
    for call in (
        lambda: x.add_(1, alpha=np.array(1.0)),
        lambda: x.exponential_(np.array([1.0])),
        lambda: x.uniform_("a"),
        lambda: torch.cumsum(x.detach(), True, out=out),
        lambda: x.copy_([1.0]),
        lambda: x.index_add_(True, torch.tensor([0]), torch.ones(1)),
    ):
        with pytest.raises(TypeError):
            call()
    assert x._version == 0 and out._version == 0 and out.tolist() == [0.0, 0.0, 0.0]
    assert (state == torch.random.get_rng_state()).all()
    x.sum().backward()
    assert leaf.grad.tolist() == [1.0, 1.0, 1.0]
