"""Subclasses of Tensor, `__torch_function__`, and parameters made of subclasses."""

from __future__ import annotations

import pytest


@pytest.fixture
def mine(torch):
    return type("Mine", (torch.Tensor,), {})


def test_how_they_are_made(torch, mine):
    for made in (mine([1.0, 2.0]), torch.tensor([1.0, 2.0]).as_subclass(mine), torch.Tensor.__new__(mine, [1.0, 2.0])):
        assert type(made) is mine and isinstance(made, torch.Tensor) and made.is_leaf and not made.requires_grad
        assert repr(made) == "Mine([1., 2.])"
    plain = torch.ones(2)
    plain.as_subclass(mine).add_(1)
    assert plain.tolist() == [2.0, 2.0] and type(plain.as_subclass(mine).as_subclass(torch.Tensor)) is torch.Tensor
    made = torch.Tensor._make_subclass(mine, plain * 1, True)
    assert type(made) is mine and made.is_leaf and made.requires_grad
    made.note = 3
    assert made.note == 3 and type(made.requires_grad_()) is mine
    with pytest.raises(TypeError, match="Creating a Tensor subclass from a class that does not inherit from Tensor"):
        plain.as_subclass(int)
    with pytest.raises(TypeError, match=r"_make_subclass\(\): argument 'data' \(position 2\) must be Tensor, not int"):
        torch.Tensor._make_subclass(mine, 3)


def test_as_subclass_keeps_the_history(torch, mine, leaf):
    x = leaf()
    y = (x * 2).as_subclass(mine)
    assert type(y) is mine and y.grad_fn.name() == "AliasBackward0"
    y.sum().backward()
    assert type(x.grad) is torch.Tensor and x.grad.tolist() == [2.0, 2.0]


EXPRESSIONS = """m + 1 | 1 + m | m * o | o * m | 1 - m | m.sum() | m.sum(0) | torch.exp(m) | m[0] | m.view(-1)
m.clone() | m.detach() | m.data | m.to(torch.float64) | torch.cat([o, m]) | torch.stack([m, o]) | -m | m == o | o @ m
m.mean() | torch.where(m > 1, m, o) | m.reshape(2, 1) | abs(m) | m**2 | 2**m | m / 2 | torch.add(o, m)
torch.softmax(m, 0) | torch.nn.functional.relu(m) | m.expand(2, 2) | o.add(m) | m.contiguous()"""


@pytest.mark.parametrize("expression", EXPRESSIONS.replace("\n", " | ").split(" | "))
def test_operations_return_the_subclass(torch, mine, expression):
    m = torch.tensor([1.0, 2.0]).as_subclass(mine).requires_grad_()
    result = eval(expression, {"m": m, "o": torch.ones(2), "torch": torch})
    assert type(result) is mine


def test_several_results_return_the_subclass(torch, mine):
    m = torch.tensor([1.0, 2.0]).as_subclass(mine)
    for results in (m.max(0), m.split(1), m.sort(), m.unbind(), list(m)):
        assert all(type(r) is mine for r in results)
    assert type(m.max(0)).__name__ == "max"


def test_gradients_are_plain(torch, mine):
    m = torch.ones(2).as_subclass(mine).requires_grad_()
    (m * 2).sum().backward()
    assert type(m.grad) is torch.Tensor and m.grad.tolist() == [2.0, 2.0]
    with torch.no_grad():
        assert m.mul_(2) is m
    assert m.tolist() == [2.0, 2.0]


def test_inside_a_custom_function(torch, mine, make_function):
    seen = []

    def forward(ctx, x):
        seen.append(type(x))
        return x * 2

    def backward(ctx, g):
        seen.append(type(g))
        return g * 2

    m = torch.ones(2).as_subclass(mine).requires_grad_()
    y = make_function(forward, backward).apply(m)
    y.sum().backward()
    assert type(y) is mine and seen == [mine, torch.Tensor] and type(m.grad) is torch.Tensor


def test_two_subclasses(torch, mine):
    derived = type("Derived", (mine,), {})
    other = type("Other", (torch.Tensor,), {})
    a, b, c = (torch.ones(2).as_subclass(k) for k in (mine, derived, other))
    assert type(a + b) is derived and type(b + a) is derived
    with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Mine' and 'Other'"):
        a + c
    assert type(a + torch.nn.Parameter(torch.ones(2))) is mine


def test_a_torch_function_of_ones_own(torch):
    log = []

    class Logging(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append((func.__name__, types, len(args)))
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(2).as_subclass(Logging)
    log.clear()
    torch.add(x, 1)
    x * x
    torch.sum(x)
    x.sum(0)
    torch.cat([x, x])
    x.add_(1)
    y = torch.ones(2) + x
    assert [name for name, _, _ in log] == ["add", "mul", "sum", "sum", "cat", "add_", "add"]
    assert all(tuple(types) == (Logging,) for _, types, _ in log) and type(y) is Logging
    assert [n for _, _, n in log[:2]] == [2, 2]


def test_what_is_no_tensor_can_take_part(torch):
    handled = {}

    class Scalar:
        def __init__(self, value):
            self.value = value

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func not in handled:
                return NotImplemented
            return handled[func](*args, **(kwargs or {}))

    handled[torch.mean] = lambda s, **kwargs: ("mean", s.value)
    handled[torch.add] = lambda a, b: "added"
    s = Scalar(3)
    assert torch.mean(s) == ("mean", 3)
    assert torch.add(torch.ones(2), s) == "added" and torch.add(s, 2) == "added"
    for call in (lambda: torch.mul(s, 2), lambda: torch.exp(s), lambda: torch.cat([s, s])):
        with pytest.raises(TypeError, match="all __torch_function__ handlers returned NotImplemented"):
            call()
    with pytest.raises(TypeError, match="unsupported operand"):
        torch.ones(2) * s


def test_switching_it_off(torch, mine):
    m = torch.ones(2).as_subclass(mine)
    for block in (torch._C.DisableTorchFunctionSubclass, torch._C.DisableTorchFunction):
        with block():
            assert type(m + 1) is torch.Tensor
    assert type(m + 1) is mine
    never = type("Never", (torch.Tensor,), {"__torch_function__": torch._C._disabled_torch_function_impl})
    n = torch.ones(2).as_subclass(never)
    assert type(n) is never and type(n + 1) is torch.Tensor and type(n.detach()) is torch.Tensor


def test_overrides(torch, mine):
    overrides = torch.overrides

    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, args, kwargs

    def twice(a, b=2):
        if overrides.has_torch_function((a,)):
            return overrides.handle_torch_function(twice, (a,), a, b=b)
        return a * b

    like = Like()
    assert twice(3) == 6 and twice(like) == ("twice", (like,), {"b": 2})
    assert (
        overrides.is_tensor_like(like) and overrides.is_tensor_like(torch.ones(1)) and not overrides.is_tensor_like(3)
    )
    assert overrides.has_torch_function((torch.ones(2).as_subclass(mine),)) and overrides.has_torch_function_unary(like)
    assert not overrides.has_torch_function((torch.ones(2), torch.nn.Parameter(torch.ones(1)), 3))
    wrapped = overrides.wrap_torch_function(lambda a: (a,))(lambda a: 5)
    assert wrapped(3) == 5 and wrapped(like)[1] == (like,)
    assert overrides.resolve_name(torch.add) == "torch.add"


def test_parameters_of_subclasses(torch, mine):
    parameter = torch.nn.Parameter
    p = parameter(torch.ones(2).as_subclass(mine))
    assert type(p) is mine and isinstance(p, parameter) and p._is_param and p.requires_grad
    assert repr(p) == "Parameter(Mine([1., 1.], requires_grad=True))"
    module = torch.nn.Module()
    module.p = p
    assert [name for name, _ in module.named_parameters()] == ["p"]
    assert not isinstance(torch.ones(2), parameter) and not isinstance(torch.ones(2).as_subclass(mine), parameter)
    derived = type("Derived", (parameter,), {})(torch.ones(2))
    assert isinstance(derived, parameter) and type(derived * 2) is torch.Tensor
    assert repr(derived) == "Parameter containing:\nParameter(Derived([1., 1.], requires_grad=True))"
    with pytest.raises(AttributeError, match="'int' object has no attribute 'detach'"):
        parameter(3)


def test_what_parameters_give(torch):
    p = torch.nn.Parameter(torch.ones(2))
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert {type(t) for t in (p + 1, p.data, p.detach(), p.clone(), p[0], p.view(-1))} == {torch.Tensor}
    p.data = torch.zeros(3)
    p.data.add_(1)
    assert p.tolist() == [1.0, 1.0, 1.0] and type(p) is torch.nn.Parameter


def test_tensors_made_like_one(torch):
    seen = []

    class Named(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2, 3).as_subclass(Named)
    calls = {
        "zeros_like": lambda: torch.zeros_like(x),
        "ones_like": lambda: torch.ones_like(x, dtype=torch.float64),
        "empty_like": lambda: torch.empty_like(x),
        "full_like": lambda: torch.full_like(x, 2),
        "rand_like": lambda: torch.rand_like(x),
        "randn_like": lambda: torch.randn_like(x),
        "randint_like": lambda: torch.randint_like(x, 3),
        "new_zeros": lambda: x.new_zeros(2),
        "new_full": lambda: x.new_full((2,), 1.0),
        "new_empty": lambda: x.new_empty(2, 1),
        "bernoulli": lambda: torch.bernoulli(x),
        "multinomial": lambda: torch.multinomial(x, 1),
    }
    for name, call in calls.items():
        seen.clear()
        assert type(call()) is Named and seen == [name]
    assert torch.ones_like(x, dtype=torch.float64).dtype is torch.float64
    assert type(torch.zeros_like(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor
    with pytest.raises(ValueError, match="uninitialized"):
        torch.empty_like(torch.nn.UninitializedParameter())


WITH_OTHER_ARGUMENTS = """block_diag(x, x) | conv1d(x[None], x[None]) | nn.functional.celu_(x)
nn.functional.elu_(x, 2.0) | nn.functional.hardtanh_(x) | nn.functional.leaky_relu_(x, 0.1)
nn.functional.rrelu_(x) | nn.functional.selu_(x)
nn.functional.silu(x, inplace=True) | nn.functional.relu6(x, inplace=True)"""


@pytest.mark.parametrize("call", WITH_OTHER_ARGUMENTS.replace("\n", " | ").split(" | "))
def test_functions_made_of_operations_with_other_arguments(torch, mine, call):
    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = torch.tensor([[-1.0, 2.0], [0.5, -3.0]])
    expected = eval(f"torch.{call}", {"torch": torch, "x": x.clone()})
    found = eval(f"torch.{call}", {"torch": torch, "x": x.clone().as_subclass(mine)})
    with Log():
        watched = eval(f"torch.{call}", {"torch": torch, "x": x.clone()})
    assert type(found) is mine and found.shape == watched.shape == expected.shape
    if "rrelu" not in call:
        assert found.tolist() == watched.tolist() == expected.tolist()


@pytest.mark.parametrize("call", ["normal_(1, 2)", "uniform_(1, 2)", "exponential_(2)", "cauchy_()", "random_(5)"])
def test_random_numbers_are_written_to_subclasses(torch, mine, call):
    torch.manual_seed(0)
    expected = eval(f"x.{call}", {"x": torch.zeros(20)})
    torch.manual_seed(0)
    x = torch.zeros(20).as_subclass(mine)
    assert eval(f"x.{call}", {"x": x}) is x and x.tolist() == expected.tolist()


def tensor_like(seen):
    class Like:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            assert cls in types
            seen.append(func.__name__)
            return -1

    return Like


LIKE = """einsum('i,j', d, d) | einsum('i,j', [d, x]) | tensordot(x, d) | broadcast_tensors(d, x)
meshgrid(d, d, indexing='ij')
cdist(x, d) | block_diag(x, d) | stft(d, 2) | cov(d) | diff(d) | quantile(d, 0.5) | atleast_1d(d) | result_type(d, x)
nn.functional.cross_entropy(x, d) | nn.functional.embedding(d, x) | nn.functional.dropout(d)
nn.functional.conv2d(d, d) | nn.functional.layer_norm(d, (3,)) | nn.functional.normalize(d)
nn.functional.scaled_dot_product_attention(d, d, d)"""


@pytest.mark.parametrize("call", LIKE.replace("\n", " | ").split(" | "))
def test_functions_ask_what_is_like_a_tensor(torch, call):
    seen = []
    like = tensor_like(seen)
    assert eval(f"torch.{call}", {"torch": torch, "x": torch.ones(3, 3), "d": like()}) == -1
    assert seen == [call.partition("(")[0].rpartition(".")[2]]


def test_subscripts_ask_what_is_like_a_tensor(torch, mine):
    seen = []
    like = tensor_like(seen)
    x = torch.zeros(3, 3)
    assert x[like()] == x[0, like()] == -1
    x[like()] = x[0, like()] = 1
    x[0] = like()
    assert seen == ["__getitem__"] * 2 + ["__setitem__"] * 3 and not x.any()
    assert type(x[torch.tensor([0]).as_subclass(mine)]) is mine
    x[torch.tensor([1]).as_subclass(mine)] = 2
    assert x.tolist() == [[0] * 3, [2] * 3, [0] * 3]


def test_modes_with_class_methods_are_refused(torch):
    class Wrong(torch.overrides.TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with Wrong(), pytest.raises(RuntimeError, match="classmethod is not supported"):
        torch.add(1, torch.ones(2))
