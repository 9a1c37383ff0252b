"""Forward mode: levels, duals, tangents through operations, and both modes together."""

from __future__ import annotations

import copy

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time


@pytest.fixture
def fw(torch):
    return torch.autograd.forward_ad


@pytest.fixture
def dual(torch, fw):
    """A dual tensor of lists of numbers."""
    return lambda primal, tangent: fw.make_dual(torch.tensor(primal), torch.tensor(tangent))


@pytest.fixture
def tangent(fw):
    def of(tensor):
        found = fw.unpack_dual(tensor).tangent
        return None if found is None else found.tolist()

    return of


def test_names(fw):
    assert sorted(fw.__all__) == [
        "UnpackedDualTensor",
        "dual_level",
        "enter_dual_level",
        "exit_dual_level",
        "make_dual",
        "unpack_dual",
    ]
    assert fw.UnpackedDualTensor._fields == ("primal", "tangent")


def test_a_dual_and_its_parts(torch, fw):
    x, v = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    with fw.dual_level() as level:
        assert level == 0
        d = fw.make_dual(x, v)
        assert d is not x and d.data_ptr() == x.data_ptr() and not d.requires_grad
        assert repr(d) == "tensor([1., 2.], tangent=tensor([3., 4.]))"
        unpacked = fw.unpack_dual(d)
        assert type(unpacked) is fw.UnpackedDualTensor
        assert unpacked.tangent is v and unpacked.primal is not d and fw.unpack_dual(unpacked.primal).tangent is None
        assert fw.unpack_dual(x).tangent is None
        x.mul_(2)
        assert d.tolist() == [2.0, 4.0]


def test_leaving_the_level_takes_tangents_away(fw, dual, tangent):
    with fw.dual_level():
        d = dual([1.0], [2.0])
        y = d * 3
        assert tangent(y) == [6.0]
    assert fw.unpack_dual(y) == (y, None) and repr(y) == "tensor([3.])"
    with fw.dual_level():
        assert tangent(d) is None and tangent(y) is None


def test_levels(fw):
    assert fw._current_level == -1
    with fw.dual_level():
        assert fw._current_level == 0
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
            fw.enter_dual_level()
        with pytest.raises(RuntimeError, match="Nested forward mode AD"), fw.dual_level():
            pass
        assert fw._current_level == 0
        with pytest.raises(RuntimeError, match="Trying to exit a forward AD level that was not the last one"):
            fw.exit_dual_level(level=1)
    with pytest.raises(KeyError), fw.dual_level():
        raise KeyError
    assert fw._current_level == -1
    level = fw.enter_dual_level()
    fw.exit_dual_level(level=level)
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        fw.exit_dual_level()
    with pytest.raises(RuntimeError, match="Trying to exit a forward AD level that was not the last one"):
        fw.exit_dual_level(level=0)

    @fw.dual_level()
    def inside():
        return fw._current_level

    assert inside() == 0 and fw._current_level == -1


def test_what_cannot_be_dual(torch, fw):
    x, i = torch.ones(2), torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="Trying to create a dual Tensor for forward AD but no level exists"):
        fw.make_dual(x, x)
    with fw.dual_level():
        with pytest.raises(RuntimeError, match=r"Tensor is of size \[2\] while .* gradient is of size \[3\]"):
            fw.make_dual(x, torch.ones(3))
        with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: "):
            fw.make_dual(i, x)
        with pytest.raises(ValueError, match="Expected tangent to be floating point or complex, but got: "):
            fw.make_dual(x, i)
        with pytest.raises(AttributeError, match="'int' object has no attribute 'is_floating_point'"):
            fw.make_dual(3, x)
        d = fw.make_dual(x, x)
        with pytest.raises(RuntimeError, match="a Tensor that already has a forward gradient at the same level 0"):
            fw.make_dual(d, x)
        with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient at the same"):
            fw.make_dual(x, d)
        with pytest.raises(RuntimeError, match="Invalid level given to _make_dual"):
            fw.make_dual(x, x, level=1)
        with pytest.raises(RuntimeError, match="Invalid level given to _fw_primal"):
            fw.unpack_dual(d, level=1)
        with pytest.raises(TypeError, match=r"_unpack_dual\(\): argument 'dual' \(position 1\) must be Tensor"):
            fw.unpack_dual(3)
        assert fw.unpack_dual(d, level=-1) == (d, None)
        assert fw.make_dual(x, x.double()).dtype == torch.float32


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("d * d", [2.0, 8.0]),
        ("d + 1", [1.0, 2.0]),
        ("d.sum()", 3.0),
        ("d.max(0).values", 2.0),
        ("d.sort(descending=True).values", [2.0, 1.0]),
        ("torch.var_mean(d)[1]", 1.5),
        ("d.split(1)[1]", [2.0]),
        ("d.view(2, 1)", [[1.0], [2.0]]),
        ("d.clone()", [1.0, 2.0]),
        ("torch.cat([d, x])", [1.0, 2.0, 0.0, 0.0]),
        ("torch.where(d > 1, d, x)", [0.0, 2.0]),
        ("d @ d", 10.0),
        ("d.relu()", [1.0, 2.0]),
        ("d.round()", [0.0, 0.0]),
        ("d.double()", [1.0, 2.0]),
        ("torch.nn.functional.linear(d, torch.ones(1, 2))", [3.0]),
        ("d.detach()", None),
        ("d.data", None),
        ("d.argmax()", None),
        ("d > 1", None),
        ("d.to(torch.int64)", None),
        ("torch.zeros_like(d)", None),
    ],
)
def test_tangents_through_operations(torch, fw, dual, tangent, expression, expected):
    with fw.dual_level():
        result = eval(expression, {"d": dual([1.0, 2.0], [1.0, 2.0]), "x": torch.ones(2), "torch": torch})
        assert tangent(result) == expected


def test_in_place(torch, fw, dual, tangent):
    with fw.dual_level():
        d = dual([1.0, 2.0], [3.0, 4.0])
        c = d.clone()
        assert c.mul_(2) is c and tangent(c) == [6.0, 8.0] and tangent(d) == [3.0, 4.0]
        z = torch.zeros(2)
        z.add_(d)
        assert tangent(z) == [3.0, 4.0]
        z = torch.zeros(2)
        z.copy_(d)
        assert tangent(z) == [3.0, 4.0]
        c.zero_()
        assert tangent(c) == [0.0, 0.0]


def test_the_tangent_has_the_layout_of_the_primal(torch, fw):
    x, v = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(3, 2).t()
    with fw.dual_level():
        d = fw.make_dual(x, v)
        kept = fw.unpack_dual(d).tangent
        assert kept is not v and kept.stride() == x.stride() and torch.equal(kept, v)


def test_switching_it_off(torch, fw, dual, tangent):
    assert fw._is_fwd_grad_enabled()
    with fw.dual_level():
        d = dual([1.0], [3.0])
        with fw._set_fwd_grad_enabled(False):
            assert not fw._is_fwd_grad_enabled() and tangent(d) is None
            assert not torch._C._is_fwd_grad_enabled()
            y = d * 2
        assert tangent(y) is None and tangent(d * 2) == [6.0]
        with torch.no_grad():
            assert fw._is_fwd_grad_enabled() and tangent(d * 2) == [6.0]
        with torch.inference_mode():
            assert not fw._is_fwd_grad_enabled()
            y = d * 2
        assert tangent(y) is None
    with fw._set_fwd_grad_enabled(False), fw.dual_level():
        assert tangent(dual([1.0], [3.0])) is None


def test_reverse_over_forward(torch, fw):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, 0.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, v)
        assert d.requires_grad and not d.is_leaf
        value, slope = fw.unpack_dual((d**3).sum())
        assert value.item() == 9.0 and slope.item() == 3.0 and slope.requires_grad
        (second,) = torch.autograd.grad(slope, x, retain_graph=True)
        assert second.tolist() == [6.0, 0.0] and fw.unpack_dual(second).tangent is None
        assert torch.autograd.grad(slope, v, retain_graph=True)[0].tolist() == [3.0, 12.0]
        assert torch.autograd.grad(value, x)[0].tolist() == [3.0, 12.0]


def test_forward_over_reverse(torch, fw, tangent):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1.0, 1.0]))
        (g,) = torch.autograd.grad((d**3).sum(), d, create_graph=True)
        assert g.tolist() == [3.0, 12.0] and tangent(g) == [6.0, 12.0]
        (d**3).sum().backward()
        assert x.grad.tolist() == [3.0, 12.0] and tangent(x.grad) is None


def test_complex(torch, fw):
    with fw.dual_level():
        d = fw.make_dual(torch.tensor([1 + 1j]), torch.tensor([2 - 1j]))
        assert fw.unpack_dual(d * d).tangent.tolist() == [6 + 2j]
        assert fw.unpack_dual(d.conj() + 0).tangent.tolist() == [2 + 1j]
        assert fw.unpack_dual(d.abs() ** 2).tangent.tolist() == pytest.approx([2.0])


def test_duals_as_parameters_of_a_module(torch, fw):
    module = torch.nn.Linear(2, 1)
    with fw.dual_level():
        for name, p in list(module.named_parameters()):
            delattr(module, name)
            setattr(module, name, fw.make_dual(torch.ones_like(p), torch.ones_like(p)))
        assert fw.unpack_dual(module(torch.ones(1, 2))).tangent.tolist() == [[3.0]]
        d = fw.make_dual(torch.nn.Parameter(torch.ones(2)), torch.ones(2))
        assert type(d) is torch.Tensor and d.grad_fn is not None


def test_copies_have_no_tangent(fw, dual, tangent):
    with fw.dual_level():
        assert tangent(copy.deepcopy(dual([1.0], [1.0]))) is None


# -- the jvp of custom functions --


@pytest.fixture
def with_jvp(torch):
    def build(forward, jvp):
        base = torch.autograd.Function
        return type(base)("My", (base,), {"forward": staticmethod(forward), "jvp": staticmethod(jvp)})

    return build


def test_a_jvp(torch, fw, dual):
    seen = []

    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, k):
            ctx.k = k
            ctx.save_for_forward(a, b)
            ctx.save_for_backward(a, b)
            return a * b * k

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * b * ctx.k, g * a * ctx.k, None

        @staticmethod
        def jvp(ctx, a_t, b_t, k_t):
            seen.append((a_t.tolist(), b_t.tolist(), k_t, torch.is_grad_enabled(), fw._is_fwd_grad_enabled()))
            a, b = ctx.saved_tensors
            return (a_t * b + a * b_t) * ctx.k

    b = torch.tensor([3.0, 4.0], requires_grad=True)
    with fw.dual_level():
        y = Mul.apply(dual([1.0, 2.0], [1.0, 1.0]), b, 2)
        value, slope = fw.unpack_dual(y)
        assert value.tolist() == [6.0, 16.0] and slope.tolist() == [6.0, 8.0]
        assert torch.autograd.grad(slope.sum(), b)[0].tolist() == [2.0, 2.0]
        assert len(y.grad_fn.saved_tensors) == 2
    assert seen == [([1.0, 1.0], [0.0, 0.0], None, True, False)]


def test_without_a_jvp(torch, fw, make_function, dual):
    cls = make_function()
    with fw.dual_level():
        with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
            cls.apply(dual([1.0], [1.0]))
        assert cls.apply(torch.ones(1)).tolist() == [2.0]
        with fw._set_fwd_grad_enabled(False):
            assert cls.apply(dual([1.0], [1.0])).tolist() == [2.0]


@pytest.mark.parametrize(
    ("forward", "jvp", "message"),
    [
        (lambda ctx, x: x * 2, lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but got 2\)"),
        (lambda ctx, x: (x * 2, x), lambda ctx, t: t, r"invalid number of forward gradients \(expected 2 but got 1\)"),
        (lambda ctx, x: x * 2, lambda ctx, t: 3, r"expected Variable or None \(got int\) for grad output 0"),
        (lambda ctx, x: x * 2, lambda ctx, t: [t], r"expected Variable or None \(got list\) for grad output 0"),
        (lambda ctx, x: x * 2, lambda ctx, t: t.new_ones(3), r"different size.*gradient is of size \[3\]"),
        (lambda ctx, x: x, lambda ctx, t: t * 2, "is returning a view .* but the jvp is not returning a view"),
        (lambda ctx, x: x.view(-1), lambda ctx, t: t * 2, "is returning a view .* but the jvp is not returning a view"),
        (lambda ctx, x: x.long(), lambda ctx, t: t, "returned a gradient at position 0, but .* not a differentiable"),
    ],
)
def test_tangents_that_do_not_fit(fw, with_jvp, dual, forward, jvp, message):
    with fw.dual_level(), pytest.raises(RuntimeError, match=message):
        with_jvp(forward, jvp).apply(dual([1.0, 2.0], [1.0, 1.0]))


def test_a_jvp_beside_a_write_in_place(fw, with_jvp, dual, tangent):
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    with fw.dual_level():
        d = dual([1.0], [3.0]).clone()
        y = with_jvp(forward, lambda ctx, t: t.mul_(2)).apply(d)
        assert y is d and tangent(y) == [6.0]
        for jvp in (lambda ctx, t: t * 2, lambda ctx, t: None):
            with pytest.raises(RuntimeError, match="must modify the corresponding gradient inplace"):
                with_jvp(forward, jvp).apply(dual([1.0], [3.0]).clone())


def test_views_and_constants(torch, fw, with_jvp, dual, tangent):
    def constant(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    with fw.dual_level():
        d = dual([1.0], [3.0])
        assert tangent(with_jvp(lambda ctx, x: x.view(-1), lambda ctx, t: t.view(-1)).apply(d)) == [3.0]
        assert tangent(with_jvp(lambda ctx, x: x, lambda ctx, t: t.view_as(t)).apply(d)) == [3.0]
        assert tangent(with_jvp(constant, lambda ctx, t: None).apply(d)) is None
        mixed = with_jvp(lambda ctx, x: (x * 2, 3), lambda ctx, t: (t * 2, None)).apply(d)
        assert tangent(mixed[0]) == [6.0] and mixed[1] == 3


def test_missing_tangents(torch, fw, with_jvp, dual):
    seen = []

    def jvp(ctx, *tangents):
        seen.append([None if t is None else t.tolist() for t in tangents])
        return tangents[0]

    def unmaterialized(ctx, *args):
        ctx.set_materialize_grads(False)
        return args[0] * 2

    other, integer = torch.ones(1), torch.tensor([1])
    with fw.dual_level():
        with_jvp(lambda ctx, *args: args[0] * 2, jvp).apply(dual([1.0], [3.0]), other, integer, 3)
        with_jvp(unmaterialized, jvp).apply(dual([1.0], [3.0]), other, integer, 3)
    assert seen == [[[3.0], [0.0], None, None], [[3.0], None, None, None]]


def test_a_jvp_without_an_answer(torch, real, fw, with_jvp, dual, tangent):
    """In torch an internal assertion fails."""
    if real:
        pytest.skip("an error in torch")
    with fw.dual_level():
        first, second = with_jvp(lambda ctx, x: (x * 2, x * 3), lambda ctx, t: (t * 2, None)).apply(dual([1.0], [1.0]))
        assert tangent(first) == [2.0] and tangent(second) is None


def test_a_level_is_that_of_the_thread(real, fw, dual, tangent):
    """In torch it is that of the process."""
    import threading

    if real:
        pytest.skip("holds for all threads in torch")
    seen = []
    with fw.dual_level():
        d = dual([1.0], [1.0])
        thread = threading.Thread(target=lambda: seen.append((d * 2)._tangents))
        thread.start()
        thread.join()
        assert tangent(d * 2) == [2.0]
    assert seen == [None]


def test_as_strided_of_a_tensor_with_a_tangent_of_another_layout(torch):
    """The tangent counts as if it lay in memory as the tensor does."""
    x, t = torch.arange(12.0).reshape(3, 4)[:, 1:3], torch.arange(6.0).reshape(3, 2) + 1
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, t)
        for where, expected in (
            (((2, 2), (4, 1), 1), [[1.0, 2.0], [3.0, 4.0]]),
            (((2, 2), (4, 1), 0), [[0.0, 1.0], [0.0, 3.0]]),
            (((3,), (1,), 2), [2.0, 0.0, 0.0]),
        ):
            tangent = torch.autograd.forward_ad.unpack_dual(torch.as_strided(dual, *where)).tangent
            assert tangent.tolist() == expected


class TestSwitchedOff:
    def test_inside_of_functions(self, torch, fw, make_function):
        seen = []

        def forward(ctx, x):
            seen.append(fw._is_fwd_grad_enabled())
            return x * 2

        make_function(forward).apply(torch.ones(2))
        with fw.dual_level():
            make_function(forward).apply(torch.ones(2))
        assert seen == [False, False] and fw._is_fwd_grad_enabled()

    def test_for_a_block(self, torch, fw, dual):
        with fw.dual_level():
            x = dual([1.0], [1.0])
            with fw._set_fwd_grad_enabled(False):
                assert not fw._is_fwd_grad_enabled() and fw.unpack_dual(x).tangent is None
                y = x * 2
            assert fw._is_fwd_grad_enabled() and fw.unpack_dual(x).tangent.tolist() == [1.0]
            assert fw.unpack_dual(y).tangent is None

    def test_before_a_level(self, torch, fw):
        with fw._set_fwd_grad_enabled(False), fw.dual_level():
            assert fw.unpack_dual(fw.make_dual(torch.ones(1), torch.ones(1)).exp()).tangent is None
        with fw._set_fwd_grad_enabled(False):  # a transform is a level of its own
            assert torch.func.jvp(torch.exp, (torch.zeros(1),), (torch.ones(1),))[1].tolist() == [1.0]

    def test_in_transforms_inside_of_each_other(self, torch, fw):
        def f(x):
            with fw._set_fwd_grad_enabled(False):
                constant = x**2
            return x**2 - constant

        x, t = torch.tensor([1.0, 3.0]), torch.ones(2)
        assert torch.func.jvp(f, (x,), (t,))[1].tolist() == [2.0, 6.0]
        assert torch.func.jvp(lambda x: torch.func.jvp(f, (x,), (t,))[1], (x,), (t,))[1].tolist() == [2.0, 2.0]


def test_running_statistics_have_no_tangent(torch, fw):
    x, mean, var = torch.randn(3, 2), torch.zeros(2), torch.ones(2)
    with fw.dual_level():
        dual = fw.make_dual(x, torch.ones_like(x))
        moving = fw.make_dual(mean, torch.ones(2))
        with pytest.raises(RuntimeError, match="batch_norm is not differentiable wrt running_mean and running_var"):
            torch.nn.functional.batch_norm(dual, moving, var)
        assert torch.equal(torch.nn.functional.batch_norm(x, moving, var), torch.nn.functional.batch_norm(x, mean, var))


@pytest.mark.parametrize("name", ["sin", "view", "slice", "as_strided", "expand", "mul_"])
def test_duals_under_vmap(torch, fw, real, name):
    """Batched tangents of a tensor that is the same for all examples, as `jvp` of a batch of tangents needs them."""
    if real:
        pytest.skip("torch.vmap has no batching rule for _make_dual")
    f = {
        "sin": lambda x: x.sin(),
        "view": lambda x: x.view(2, 2),
        "slice": lambda x: x[1:],
        "as_strided": lambda x: x.as_strided((2, 2), (1, 1)),
        "expand": lambda x: x.expand(2, 4),
        "mul_": lambda x: x.clone().mul_(x),
    }[name]
    primal, tangents = torch.arange(4.0), torch.arange(8.0).reshape(2, 4)

    def tangent(t):
        with fw.dual_level():
            return fw.unpack_dual(f(fw.make_dual(primal, t))).tangent

    assert torch.allclose(torch.vmap(tangent)(tangents), torch.stack([tangent(t) for t in tangents]))
