"""The public forms of functions that are composed of others: what they look like, and what they let through."""

from __future__ import annotations

import inspect
import pickle

import pytest

import gradpack as torch
import gradpack.nn.functional as F
from gradpack.declare.signature.arguments import kind_of
from gradpack.declare.signature.wrapper import public_form
from gradpack.overrides import TorchFunctionMode


def with_all_kinds(input: object, *rest: int, upper: bool = False, alpha: float = 1.0, **more: object) -> object:
    return input, rest, upper, alpha, more


def test_arguments_arrive_as_they_were_given() -> None:
    call = public_form(with_all_kinds, "with_all_kinds", __name__)
    assert call(1, 2, 3, alpha=2, x=5) == (1, (2, 3), False, 2, {"x": 5})
    assert call(1, upper=True) == (1, (), True, 1.0, {})
    with pytest.raises(TypeError, match=r"with_all_kinds.*missing 1 required positional argument: 'input'"):
        call()
    with pytest.raises(TypeError, match=r"with_all_kinds\(\): argument 'upper' .* must be bool, not int"):
        call(1, upper=1)


def test_a_public_form_shows_the_signature_and_the_text_of_what_is_inside() -> None:
    assert list(inspect.signature(torch.cumsum).parameters) == ["input", "dim", "dtype", "out"]
    assert "def cumsum(" in inspect.getsource(torch.cumsum)
    assert torch.cumsum.__doc__ and torch.cumsum.__doc__ == torch.cumsum.inside.__doc__


def test_there_is_one_public_form_of_a_function() -> None:
    assert torch.cumsum is torch.Tensor.cumsum
    assert public_form(torch.cumsum, "cumsum", "gradpack") is torch.cumsum
    assert pickle.loads(pickle.dumps(torch.cumsum)) is torch.cumsum
    assert pickle.loads(pickle.dumps(F.max_pool2d)) is F.max_pool2d


def test_operations_that_are_declared_have_none() -> None:
    assert not hasattr(torch.add, "inside")


def test_kinds_come_from_annotations_before_names() -> None:
    assert kind_of("dim", "int | None") == "int"
    assert kind_of("dim", "Any") == "ints"
    assert kind_of("whatever", "Any") is None


def test_failures_within_name_the_function_and_its_shapes() -> None:
    def broken(input: torch.Tensor) -> None:
        input.no_such_attribute

    broken.__globals__["__name__"], name = "gradpack.ops.broken", __name__
    try:
        with pytest.raises(TypeError, match=r"broken\(\) does not take what it was given \(shapes: input \[2, 3\]\)"):
            public_form(broken, "broken", "gradpack")(torch.ones(2, 3))
    finally:
        broken.__globals__["__name__"] = name


UNKNOWN = [
    (
        lambda x: torch.sum(x, dims=0),
        "sum()",
        "dims",
        "dim",
        "(input, dim=None, keepdim=False, *, dtype=None, out=None)",
    ),
    (lambda x: x.to(devic="cpu"), "to()", "devic", "device", "(self, *args, dtype=None, device=None, "),
    (lambda x: torch.randn(2, require_grad=True), "randn()", "require_grad", "requires_grad", "(*sizes, size=None, "),
    (lambda x: F.conv2d(x, x, strid=1), "conv2d()", "strid", "stride", "(input, weight, bias=None, stride=1, "),
    (lambda x: F.softmax(x, dims=1), "softmax()", "dims", "dim", "(input, dim=None, "),
    (lambda x: torch.add(x, x, alfa=2), "add()", "alfa", "alpha", "(input, other, *, alpha=1, out=None)"),
    (lambda x: torch.add(x, 2, x, outt=x), "add()", "outt", "out", "(input, other, *, alpha=1, out=None)"),
    (lambda x: x.add(x, alfa=2), "add()", "alfa", "alpha", "(input, other, *, alpha=1, out=None)"),
    (lambda x: x.add_(x, alfa=2), "add_()", "alfa", "alpha", "(input, other, *, alpha=1)"),
    (lambda x: x.add_(2, x, alfa=2), "add_()", "alfa", "alpha", "(input, other, *, alpha=1)"),
    (lambda x: x.unsqueeze(0, dims=0), "unsqueeze()", "dims", "dim", "(input, dim)"),
    (lambda x: torch.topk(x, 1, larges=True), "topk()", "larges", "largest", "(input, k, dim=-1, largest=True, "),
    (lambda x: torch.gather(x, 0, indx=x), "gather()", "indx", "index", "(input, dim, index, *, sparse_grad=False, "),
    (lambda x: torch.sin(x, ot=x), "sin()", "ot", "out", "(input, *, out=None)"),
    (lambda x: torch.linalg.solve(x, x, lft=True), "linalg_solve()", "lft", "left", "(A, B, *, left=True, out=None)"),
    (lambda x: torch.fft.fft(x, nor="ortho"), "fft_fft()", "nor", "norm", "(input, n=None, dim=-1, norm=None, "),
    (lambda x: torch.special.logit(x, epsilon=1), "logit()", "epsilon", "eps", "(input, eps=None, *, out=None)"),
    (lambda x: x.masked_fill_(x > 0, val=1), "masked_fill_()", "val", "value", "(self, mask, value)"),
]


@pytest.mark.filterwarnings("ignore:This overload")
def test_a_keyword_that_does_not_exist_leaves_the_others_as_they_were():
    x = torch.ones(2)
    assert torch.add(x, 2, x, out=(out := torch.empty(2))) is out and out.tolist() == [3, 3]
    assert torch.squeeze(x.unsqueeze(0), axis=0).shape == (2,) and torch.sin(x, out=None).shape == (2,)
    with pytest.raises(TypeError, match="alfa"):
        x.add_(1, alfa=2)
    assert x.tolist() == [1, 1] and x._version == 0


@pytest.mark.filterwarnings("ignore:This overload")
@pytest.mark.parametrize(("call", "function", "name", "meant", "takes"), UNKNOWN)
def test_a_keyword_that_does_not_exist_is_told_with_those_that_do(call, function, name, meant, takes) -> None:
    told = f"{function} got an unexpected keyword argument '{name}'. Did you mean '{meant}'? It takes\n * {takes}"
    for _ in range(2):  # the second call runs other text
        with pytest.raises(TypeError) as caught:
            call(torch.ones(2, 3))
        assert str(caught.value).startswith(told)


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_say_which_sizes_do_not_match(name) -> None:
    told = rf"size of tensor a \(3\) must match .* tensor b \(4\) at non-singleton dimension 0: {name}\(\) got shapes"
    with pytest.raises(RuntimeError, match=told):
        getattr(F, name)(torch.ones(3), torch.ones(4))


def test_tensors_of_no_common_shape_are_told_by_their_shapes() -> None:
    with pytest.raises(RuntimeError, match=r"broadcast_tensors\(\) got shapes \[2, 3\] and \[4\]"):
        torch.broadcast_tensors(torch.ones(2, 1), torch.ones(3), torch.ones(4))


X = torch.ones(2, 2)


@pytest.mark.parametrize(
    ("call", "missing", "taken"),
    [
        (lambda: torch.add(X), "1 required positional argument: 'other'", "(input, other, *, alpha=1, out=None)"),
        (lambda: torch.add(other=X), "1 required positional argument: 'input'", "(input, other, *, alpha=1, out=None)"),
        (
            lambda: torch.add(X, out=X),
            "1 required positional argument: 'other'",
            "(input, other, *, alpha=1, out=None)",
        ),
        (lambda: X.add_(), "1 required positional argument: 'other'", "(input, other, *, alpha=1)"),
        (lambda: torch.sin(), "1 required positional argument: 'input'", "(input, *, out=None)"),
        (
            lambda: torch.topk(X),
            "1 required positional argument: 'k'",
            "(input, k, dim=-1, largest=True, sorted=True, ",
        ),
        (lambda: torch.linspace(0, 1), "1 required positional argument: 'steps'", "(start, end, steps, *, out=None, "),
        (lambda: torch.gather(X, 0), "1 required positional argument: 'index'", "(input, dim, index, *, sparse_grad"),
        (lambda: X.index_add_(0), "2 required positional arguments: 'index', 'source'", "(self, dim, index, source, *"),
        (lambda: X.bitwise_and_(), "1 required positional argument: 'other'", "(input, other, *, out=None)"),
        (lambda: X.copy_(), "1 required positional argument: 'other'", "(self, other, non_blocking=False)"),
        (lambda: X.reshape(), "1 required positional argument: 'shape'", "(self, *sizes, shape=None)"),
        (lambda: torch.is_nonzero(), "1 required positional argument: 'input'", "(input)"),
        (lambda: torch.linalg.solve(X), "1 required positional argument: 'B'", "(A, B, *, left=True, out=None)"),
        (lambda: F.mse_loss(X), "1 required positional argument: 'target'", "(input, target, size_average=None, "),
    ],
)
def test_a_call_that_lacks_an_argument_is_told_what_the_function_takes(call, missing, taken):
    for _ in range(2):  # the second call runs other text
        with pytest.raises(TypeError) as raised:
            call()
        assert f"() missing {missing}. It takes\n * {taken}" in str(raised.value)


@pytest.mark.parametrize("function", [torch.reshape, torch.permute, torch.broadcast_to])
def test_an_int_in_the_place_of_several_is_refused(function):
    with pytest.raises(
        TypeError, match=rf"{function.__name__}\(\): argument '.*' \(position 2\) must be tuple of ints"
    ):
        function(X, 4)


def test_what_is_called_past_its_decorators_gets_the_same_arguments_in_a_mode():
    seen = []

    class Told(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func, args, kwargs))
            return func(*args, **(kwargs or {}))

    with Told():
        torch.randint(3, (2,))
        torch.linspace(0, 1, 3)
        torch.randn(2, 3, dtype=torch.float64)
    assert seen == [
        (torch.randint, (3, (2,)), None),
        (torch.linspace, (0, 1, 3), None),
        (torch.randn, (2, 3), {"dtype": torch.float64}),
    ]
    with pytest.raises(TypeError, match=r"takes from 0 to 3 positional arguments but 4 were given\. It"):
        torch.randint(0, 9, (2,), 3)
