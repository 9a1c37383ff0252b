"""Hooks on nodes: when they run, what they are given, and what they may return."""

from __future__ import annotations

import pytest


def leaf_of(y):
    return y.grad_fn.next_functions[0][0]


def test_order_of_everything(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    order = []
    y.grad_fn.register_hook(lambda gi, go: order.append("y post 1"))
    y.grad_fn.register_prehook(lambda go: order.append("y pre 1"))
    y.register_hook(lambda g: order.append("y tensor 1"))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda go: order.append("y pre 2"))
    y.register_hook(lambda g: order.append("y tensor 2"))
    y.grad_fn.register_hook(lambda gi, go: order.append("y post 2"))
    x.register_post_accumulate_grad_hook(lambda t: order.append("x accumulated"))
    leaf_of(y).register_hook(lambda gi, go: order.append(("x post", gi, len(go))))
    leaf_of(y).register_prehook(lambda go: order.append("x pre"))
    x.register_hook(lambda g: order.append("x tensor"))
    y.backward()
    assert order == [
        *("y tensor 1", "y tensor 2", "y pre 1", "y pre 2", "y post 1", "y post 2"),
        *("x tensor", "x pre", "x accumulated", ("x post", (), 1)),
    ]


def test_hooks_of_several_results_run_together(torch):
    """In order of registration, just before the node."""
    a, b, c = torch.arange(3.0, requires_grad=True).unbind()
    order = []
    c.register_hook(lambda g: order.append("c"))
    a.register_hook(lambda g: order.append("a"))
    b.register_hook(lambda g: order.append("b"))
    a.grad_fn.register_prehook(lambda go: order.append(len(go)))
    (a + b + c).backward()
    assert order == ["c", "a", "b", 3]


def test_a_hook_cannot_make_a_gradient_of_none(torch):
    a, b = torch.arange(2.0, requires_grad=True).unbind()
    b.register_hook(lambda g: torch.ones(()))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        a.backward()
    x, w = torch.ones(2, requires_grad=True), torch.ones(2)
    y = x * w
    y.grad_fn.register_hook(lambda gi, go: (gi[0], torch.ones(2)))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        y.sum().backward()


@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (lambda torch: 1, TypeError, "expected tuple, but hook returned 'int'"),
        (lambda torch: torch.ones(2), TypeError, "expected tuple, but hook returned 'Tensor'"),
        (lambda torch: [torch.ones(2)], TypeError, "expected tuple, but hook returned 'list'"),
        (lambda torch: (), RuntimeError, "incorrect number of values .got 0, but expected 1"),
        (lambda torch: (None, None), RuntimeError, "incorrect number of values .got 2, but expected 1"),
        (lambda torch: (1,), TypeError, "expected Variable, but hook returned 'int'"),
        (lambda torch: (torch.ones(3),), RuntimeError, "hook 'named' has changed the size of value"),
        (lambda torch: (torch.ones(2).double(),), RuntimeError, "has changed the type of value"),
    ],
)
def test_wrong_results(torch, register, returned, error, text):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()

    def named(*given):
        return returned(torch)

    getattr(y.grad_fn, register)(named)
    with pytest.raises(error, match=text):
        y.sum().backward()
    assert x.grad is None


def test_replacing_with_none(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * torch.ones(2)
    y.grad_fn.register_hook(lambda gi, go: (None, None))
    y.sum().backward()
    assert x.grad is None
    y = x * torch.ones(2)
    y.grad_fn.register_prehook(lambda go: (None,))
    y.sum().backward()
    assert x.grad is None


def test_hooks_build_on_each_other(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(lambda go: (go[0] * 3,))
    y.grad_fn.register_prehook(lambda go: (go[0] + 5,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 2, None))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + go[0], None))
    y.sum().backward()
    assert x.grad.tolist() == [40.0, 40.0]


def test_numbers_are_no_inputs(torch):
    """Of `x ** 2` and its like only the tensor is an input, of `x * 2` the number is one without a gradient."""
    x = torch.full((2,), 3.0, requires_grad=True)
    counts = []
    for y in (x**2, 2**x, 1 - x, x % 2, x.clamp(min=0), torch.lerp(x, x, 0.5), x * 2, 2 * x, x / 2, x + 1):
        y.grad_fn.register_hook(lambda gi, go: counts.append([g is None for g in gi]))
        y.sum().backward()
        counts[-1] = (counts[-1], [n is None for n, _ in y.grad_fn.next_functions])
    one, two, with_none = ([False],) * 2, ([False, False],) * 2, ([False, True],) * 2
    assert counts == [one, one, one, one, one, two, with_none, with_none, with_none, with_none]


def test_captured_gradients_and_hooks(torch):
    """A node that runs on is captured before its hooks; the last one after them."""
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g * 100)
    by_y = torch.autograd.grad(z, y, retain_graph=True)
    both = torch.autograd.grad(z, (x, y), retain_graph=True)
    assert [g.item() for g in by_y] == [30.0]
    assert [g.item() for g in both] == [6000.0, 3.0]


def test_backward_into_a_result_runs_its_node(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    order = []
    y.grad_fn.register_hook(lambda gi, go: order.append("y"))
    x.register_hook(lambda g: order.append("x"))
    (y * 3).backward(inputs=[y])
    assert order == ["y"] and y.grad.item() == 3.0 and x.grad is None


def test_post_accumulate_must_return_none(torch):
    x = torch.ones(1, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: 5)
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
        (x * 2).backward()


def test_tensor_hook_returns_something_else(torch):
    for value in (1, "a", (torch.ones(2),), False):
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda g, value=value: value)
        with pytest.raises(TypeError, match=f"expected Variable, but hook returned '{type(value).__name__}'"):
            (x * 2).sum().backward()


def test_calling_a_node(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    first, second = y.grad_fn(torch.full((2,), 3.0))
    assert first.tolist() == [6.0, 6.0] and second is None and x.grad is None
    squared = x * x
    a, b = squared.grad_fn(torch.ones(2))
    assert a.requires_grad and b.requires_grad
    assert y.grad_fn(None) == (None, None)
    assert x.exp().sum().grad_fn(torch.tensor(2.0)).tolist() == [2.0, 2.0]
    u, _ = x.unbind()
    assert u.grad_fn(torch.tensor(1.0), torch.tensor(2.0)).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        y.grad_fn(3)


def test_handles(torch):
    x = torch.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    first, second = x.register_hook(lambda g: g * 2), x.register_hook(lambda g: g * 3)
    assert second.id == first.id + 1 and first.id in x._backward_hooks
    assert first.hooks_dict_ref() is x._backward_hooks
    with first as handle:
        assert handle is first
    assert list(x._backward_hooks) == [second.id]
    x.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert type(first).__module__.endswith("utils.hooks")


def test_handles_of_dicts(torch):
    import copy
    import importlib
    import pickle
    from collections import OrderedDict

    RemovableHandle = importlib.import_module(torch.__name__ + ".utils.hooks").RemovableHandle
    hooks, extra, more = OrderedDict(), OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=[extra, more])
    for d in (hooks, extra, more):
        d[handle.id] = 1
    copied_hooks, copied = copy.deepcopy([hooks, handle])
    alone = pickle.loads(pickle.dumps(handle))
    assert alone.id == handle.id and alone.hooks_dict_ref() is None
    alone.remove()
    copied.remove()
    assert not copied_hooks and hooks
    handle.remove()
    assert not hooks and not extra and not more
    assert RemovableHandle.next_id > handle.id


def test_hooks_survive_switching_a_leaf_off_and_on(torch):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 5)
    x.requires_grad_(False)
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        x.register_hook(lambda g: g)
    x.requires_grad_()
    x.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]


def test_retain_grad_of_a_view_follows_a_write_to_its_base(torch):
    x = torch.ones(4, requires_grad=True)
    base = x * 2
    view = base[:2]
    view.retain_grad()
    base.mul_(3)
    assert view.retains_grad
    (base.sum() + view.sum() * 2).backward()
    assert view.grad.tolist() == [2.0, 2.0] and x.grad.tolist() == [18.0, 18.0, 6.0, 6.0]


def test_hook_after_a_leaf_sees_what_became_of_its_gradient(torch):
    x = torch.ones(3, requires_grad=True)
    seen = []
    x.register_hook(lambda g: g - 2)
    leaf = x.view_as(x).grad_fn.next_functions[0][0]
    leaf.register_prehook(lambda grads: (grads[0] / 5,))

    def add(tensor):
        tensor.grad.add_(0.5)

    x.register_post_accumulate_grad_hook(add)
    leaf.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist())))
    x.sum().backward()
    assert seen[0][0] == () and torch.allclose(torch.tensor(seen[0][1]), torch.full((3,), 0.3))
