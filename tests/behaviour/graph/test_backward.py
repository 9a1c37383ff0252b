"""backward, grad, and how gradients accumulate."""

from __future__ import annotations

import gc
import weakref

import pytest


def test_accumulates_in_place_without_create_graph(torch):
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [5.0, 5.0]


@pytest.mark.filterwarnings("ignore:Using backward")  # torch warns of the cycle between .grad and leaf
def test_accumulates_into_a_new_tensor_with_create_graph(torch):
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    first = x.grad
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert x.grad.tolist() == [4.0, 4.0]
    x.grad = None


def test_leaves_and_seed_share_no_buffer(torch):
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    seed = torch.ones(2)
    (a + b).backward(seed)
    a.grad.add_(1)
    assert b.grad.tolist() == [1.0, 1.0]
    assert seed.tolist() == [1.0, 1.0]


def test_two_uses_of_one_leaf_leave_the_seed_alone(torch):
    a = torch.ones(2, requires_grad=True)
    seed = torch.ones(2)
    y = a + 0
    torch.autograd.backward([y, y], [seed, seed])
    assert a.grad.tolist() == [2.0, 2.0]
    assert seed.tolist() == [1.0, 1.0]


def test_scalar_means_one_element_of_any_rank(torch):
    x = torch.ones(1, 1, requires_grad=True)
    (x * 2).backward()
    assert x.grad.tolist() == [[2.0]]


def test_seed_of_another_shape_is_refused(torch):
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(torch.tensor(1.0))
    assert x.grad is None


def test_implicit_seed_only_for_scalars(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()


def test_backward_of_what_needs_no_gradient(torch):
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        torch.ones(1).backward()


def test_second_backward_fails_where_something_was_saved(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_second_backward_works_where_nothing_was_saved(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_retain_graph(torch):
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_double_backward(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [6.0, 12.0]


def test_third_derivative(torch):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    assert y.item() == 48.0


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_power_differentiates_down_to_zero(torch, n):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**n
    for _ in range(n + 1):
        assert y.requires_grad
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    assert y.item() == 0.0 and not y.requires_grad


def test_grad_does_not_touch_grad(torch):
    x = torch.ones(2, requires_grad=True)
    torch.autograd.grad((x * x).sum(), x)
    assert x.grad is None


def test_unused_input(torch):
    x, z = (torch.ones(1, requires_grad=True) for _ in range(2))
    y = x * 2
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(y, [x, z], retain_graph=True)
    gx, gz = torch.autograd.grad(y, [x, z], allow_unused=True, retain_graph=True)
    assert gz is None and gx.item() == 2.0
    _, gz = torch.autograd.grad(y, [x, z], materialize_grads=True)
    assert gz.tolist() == [0.0]


def test_materialize_and_allow_unused_false_exclude_each_other(torch):
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(ValueError):
        torch.autograd.grad(x * 2, x, allow_unused=False, materialize_grads=True)


def test_grad_needs_inputs(torch):
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad(x * 2, [])


def test_grad_of_input_that_requires_none(torch):
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x * 2, torch.ones(1))


def test_backward_inputs_must_not_be_empty(torch):
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 2).backward(inputs=[])


def test_backward_inputs_only(torch):
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    m = a * 2
    (m * b).backward(inputs=[m, a])
    assert m.grad.item() == 1.0 and a.grad.item() == 2.0 and b.grad is None


def test_backward_inputs_skips_what_is_not_reached(torch):
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    (a * 2).backward(inputs=[a, b])
    assert a.grad.item() == 2.0 and b.grad is None


def test_grad_runs_only_what_it_needs(torch):
    ran = []

    class Note(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            ran.append(1)
            return g

    x = torch.ones(1, requires_grad=True)
    m = x * 2
    y = Note.apply(m) * 3 + m
    torch.autograd.grad(y, m)
    assert ran == [1]
    ran.clear()
    z = torch.ones(1, requires_grad=True)
    y = Note.apply(x) + z
    torch.autograd.grad(y, z)
    assert ran == []


def test_grad_of_non_leaf(torch):
    x = torch.tensor(3.0, requires_grad=True)
    m = x * x
    (g,) = torch.autograd.grad(m * m, m)
    assert g.item() == 18.0


def test_several_roots_add_up(torch):
    x = torch.ones(2, requires_grad=True)
    torch.autograd.backward([(x * 2).sum(), (x * 3).sum()])
    assert x.grad.tolist() == [5.0, 5.0]


def test_seeds_count_must_match(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        torch.autograd.backward([x * 1, x * 2], [torch.ones(2)])


def test_is_grads_batched(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x * x, x, torch.eye(2), is_grads_batched=True)
    assert g.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_gradient_edge_as_input_and_output(torch):
    x = torch.tensor(2.0, requires_grad=True)
    m = x * x
    y = m * 3
    edge = torch.autograd.graph.get_gradient_edge(m)
    (g,) = torch.autograd.grad(y, [edge], retain_graph=True)
    assert g.item() == 3.0
    (g,) = torch.autograd.grad(torch.autograd.graph.get_gradient_edge(y), x, torch.tensor(1.0))
    assert g.item() == 12.0


def test_gradient_takes_the_dtype_of_the_leaf(torch):
    x = torch.ones(2, requires_grad=True)
    (x.double() * 2).sum().backward()
    assert x.grad.dtype == torch.float32


def test_gradient_takes_the_strides_of_a_dense_leaf(torch):
    x = torch.ones(2, 3).t().detach().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride()


def test_broadcast_gradients_are_summed(torch):
    a = torch.ones(3, 1, requires_grad=True)
    b = torch.ones(4, requires_grad=True)
    (a * b).sum().backward()
    assert a.grad.tolist() == [[4.0]] * 3
    assert b.grad.tolist() == [3.0] * 4


def test_assigned_grad_is_checked(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(3)
    with pytest.raises(RuntimeError):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(TypeError):
        x.grad = [1.0, 1.0]
    x.grad = torch.ones(2)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_requires_grad_rules(torch):
    with pytest.raises(RuntimeError):
        torch.ones(2, dtype=torch.int64).requires_grad_()
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.raises(RuntimeError, match="leaf"):
        y.requires_grad = False
    assert x.is_leaf and not y.is_leaf and torch.ones(1).is_leaf


def test_detach_shares_memory_and_version(torch):
    x = torch.zeros(2, requires_grad=True)
    d = x.detach()
    d[0] = 5
    assert x.tolist() == [5.0, 0.0]
    assert x._version == d._version == 1
    assert not d.requires_grad and d.is_leaf


def test_data_does_not_share_the_version(torch):
    x = torch.zeros(2)
    x.data.add_(1)
    assert x.tolist() == [1.0, 1.0] and x._version == 0


def test_modified_saved_tensor_is_noticed(torch):
    x = torch.ones(2, requires_grad=True)
    h = x * 1
    y = h.sin()
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert x.grad is None


def test_modified_saved_result_is_noticed(torch):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_modified_through_detach_is_noticed(torch):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_saved_values_die_in_backward(torch):
    gc.disable()
    try:
        x = torch.ones(100, requires_grad=True)
        h = x * 2
        y = h.sin().sum()
        gone = weakref.ref(h)
        del h
        y.backward()
        assert gone() is None
    finally:
        gc.enable()


def test_complex_gradient_is_the_conjugate(torch):
    z = torch.tensor(1.0 + 2.0j, requires_grad=True)
    (z * z).real.backward()
    assert z.grad.item() == 2.0 - 4.0j
    z = torch.tensor(0j, requires_grad=True)
    z.abs().backward()
    assert z.grad.item() == 0


def test_real_leaf_gets_a_real_gradient(torch):
    x = torch.tensor(2.0, requires_grad=True)
    (x * torch.tensor(1.0 + 1.0j)).real.backward()
    assert x.grad.dtype == torch.float32 and x.grad.item() == 1.0


def test_named_inputs(torch):
    x = torch.ones(1, requires_grad=True)
    found = torch.autograd.grad(x * 2, {"x": x})
    assert list(found) == ["x"] and found["x"].item() == 2.0


STEPS = {
    "relu": "ThresholdBackwardBackward0",
    "relu6": "HardtanhBackwardBackward0",
    "leaky_relu": "LeakyReluBackwardBackward0",
    "hardtanh": "HardtanhBackwardBackward0",
    "hardshrink": "HardshrinkBackwardBackward0",
    "softshrink": "SoftshrinkBackwardBackward0",
    "threshold": "ThresholdBackwardBackward0",
    "rrelu": "RreluWithNoiseBackwardBackward0",
    "prelu": "PreluKernelBackwardBackward0",
}


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time
@pytest.mark.parametrize("name", STEPS)
def test_gradients_that_change_in_steps_are_differentiated_to_zeros(torch, func, name):
    function = getattr(torch.nn.functional, name)
    more = {"threshold": (0.1, 0.0), "prelu": (torch.tensor([0.1]),)}.get(name, ())
    x = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(function(x, *more).sum(), x, create_graph=True)
    assert g.requires_grad and g.grad_fn.name() == STEPS[name]
    g.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
    many = torch.autograd.grad(function(x, *more), x, torch.eye(3), is_grads_batched=True, create_graph=True)[0]
    assert many.requires_grad and torch.equal(torch.autograd.grad(many.sum(), x)[0], torch.zeros(3))
    jacobian = torch.autograd.functional.jacobian(lambda x: function(x, *more), x, create_graph=True, strict=True)
    assert jacobian.requires_grad
    if name == "rrelu":  # which torch refuses under `vmap`
        return
    assert torch.equal(func.hessian(lambda x: function(x, *more).sum())(x.detach()), torch.zeros(3, 3))
    curved = func.hessian(lambda x: (function(x, *more) ** 2).sum())(torch.tensor([3.0]))
    assert torch.equal(curved, torch.tensor([[0.0 if name == "hardtanh" else 2.0]]))


def test_a_leaf_with_data_of_another_shape_between_two_uses(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    x.data = torch.ones(2)
    with pytest.raises(RuntimeError):
        (y.sum() + (x * 3).sum()).backward()
