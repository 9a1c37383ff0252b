"""Where features meet: views under no_grad with hooks, failures half way, leaves that changed after the forward."""

from __future__ import annotations

import gc
import pickle
import weakref

import pytest


def test_a_view_under_no_grad_gets_no_gradient(torch):
    x = torch.ones(3, requires_grad=True)
    calls = []
    with torch.no_grad():
        v = x[:2]
    assert v.requires_grad and v.is_leaf and v.grad_fn is None
    v.register_hook(calls.append)
    v.retain_grad()
    assert torch.autograd.grad(v.sum(), [x, v], allow_unused=True) == (None, None)
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        torch.autograd.backward(v, torch.ones(2))
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        torch.autograd.graph.register_multi_grad_hook([v], calls.append)
    assert not calls


def test_nothing_is_kept_for_a_view_under_no_grad(torch, leaf):
    x, w = leaf(), leaf()
    a = w * 2
    with torch.no_grad():
        v = x[:]
    y = a * v
    assert y.grad_fn.next_functions[1][0] is None
    seen = []
    y.grad_fn.register_hook(lambda ins, outs: seen.append([g is None for g in ins]))
    a.add_(1)  # only the gradient of v would have needed it
    y.sum().backward()
    assert seen == [[False, True]] and w.grad.tolist() == [2.0, 2.0]


def test_a_view_under_no_grad_follows_its_base(torch, leaf):
    x = leaf()
    with torch.no_grad():
        v = x[:1]
    assert v.requires_grad and (v * 2).requires_grad
    x.requires_grad_(False)
    assert not v.requires_grad and not (v * 2).requires_grad


def test_several_views_under_no_grad_in_one_pass(torch):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        a, b, c = x[:1], x[1:2], x[2:]
    (x.sum() + a.sum() + b.sum() + c.sum()).backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_is_leaf_of_a_view_whose_base_got_a_history(torch):
    base, w = torch.zeros(4), torch.ones(2, requires_grad=True)
    v, u = base[:2], base[2:]
    base[1:3].mul_(w)
    assert not v.is_leaf and not u.is_leaf and u.requires_grad


def test_grad_of_a_view_that_must_not_be_used_can_be_read(torch, leaf):
    y = leaf(4) * 1
    part, _ = y.chunk(2)
    part.retain_grad()
    y.mul_(2)
    assert part.grad is None and part.retains_grad
    with pytest.raises(RuntimeError, match="is a view and its base or another view of its base has been modified"):
        _ = part.grad_fn


def test_leaves_that_were_done_before_a_failure_keep_their_gradient(torch, make_function):
    def fail(ctx, g):
        raise ValueError("no")

    a, b, c = (torch.ones(1, requires_grad=True) for _ in range(3))
    y = make_function(backward=fail).apply(a)
    with pytest.raises(ValueError, match="no"):
        (y + b + c + a).backward()
    assert a.grad is None
    assert b.grad.tolist() == [1.0] and c.grad.tolist() == [1.0]


def test_leaf_that_no_longer_requires_grad_gets_none(torch, leaf):
    x = leaf()
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    assert x.grad is None


def test_leaf_moved_into_the_interior(torch, leaf):
    x, w = leaf(), leaf()
    y = x * 2
    x.requires_grad_(False)
    x.copy_(w * 3)
    with pytest.raises(RuntimeError, match="leaf variable has been moved into the graph interior"):
        y.sum().backward()
    (x * w).sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]


def test_detach_in_place_keeps_the_gradient_of_a_leaf(torch, leaf):
    x = leaf()
    (x * 3).sum().backward()
    x.detach_()
    assert not x.requires_grad and x.grad.tolist() == [3.0, 3.0]


def test_saved_tensor_that_was_detached_in_place(torch, leaf):
    x = leaf()
    a = x * 2
    b, version = a * a, a._version
    v = a[:1]
    of_a_view = v * v
    a.detach_()
    assert a._version == version
    with pytest.raises(RuntimeError, match="Trying to use a saved tensor that has been detached in-place"):
        b.sum().backward()
    of_a_view.sum().backward()  # what it saved is another tensor of the storage
    assert x.grad.tolist() == [8.0, 0.0]
    w = leaf()
    (a * w * a).sum().backward()  # saved since then
    assert w.grad.tolist() == [4.0, 4.0]


def test_saved_result_may_be_detached_in_place(torch, leaf):
    x = torch.zeros(2, requires_grad=True)
    y = x.exp()
    z = y.sum()
    y.detach_()
    z.backward()
    assert x.grad.tolist() == [1.0, 1.0]
    y = x.exp()
    z = y.sum()
    y.detach_()
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*is at version 1; expected version 0"):
        z.backward()


def test_saved_by_a_function_may_be_detached_in_place(torch, leaf, make_function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    x = leaf()
    a = x * 2
    y = make_function(forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(a)
    a.detach_()
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_data_of_another_shape_under_a_gradient(torch, leaf):
    x = leaf(3)
    x.sum().backward()
    x.data = torch.zeros(2)
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        x.sum().backward()


@pytest.mark.parametrize(
    ("target", "source", "message"),
    [((), (3,), "output with shape"), ((2, 1), (2, 3), "output with shape"), ((2,), (3,), "The size of tensor a")],
)
def test_copy_into_a_shape_that_does_not_fit(torch, target, source, message):
    with pytest.raises(RuntimeError, match=message):
        torch.zeros(target).copy_(torch.ones(source))


def test_copy_of_a_tensor_onto_itself(torch):
    x = torch.ones(1).expand(3)
    assert x.copy_(x) is x and x._version == 1


def test_views_by_strides_can_be_run_backward_twice(torch, leaf):
    x = leaf(4)
    for y in (x.as_strided((2,), (1,), 1), x.unfold(0, 2, 1)):
        for _ in range(2):
            torch.autograd.grad(y, x, torch.ones_like(y))


def test_history_of_a_view_that_a_function_wrote_to(torch, leaf, make_function):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    y = leaf(3) * 1
    v = y[:2]
    make_function(forward, lambda ctx, g: g * 3).apply(v)
    assert v.grad_fn.name() == "AsStridedBackward0" and y.grad_fn.name() == "torch::autograd::CopySlices"


def test_what_has_no_derivative(torch):
    x = torch.ones(2, requires_grad=True)
    y = x // 2
    assert y.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        y.sum().backward()


def test_nodes_cannot_be_made_by_hand(torch, leaf):
    kind = type((leaf() * 2).grad_fn)
    assert kind.__module__ == "builtins"
    with pytest.raises(TypeError, match="cannot create 'MulBackward0' instances"):
        kind()


def test_pickling_warns_of_hooks(torch, leaf):
    x = leaf()
    x.register_hook(print)
    with pytest.warns(UserWarning, match="backward hook <built-in function print> on tensor will not be serialized"):
        again = pickle.loads(pickle.dumps(x))
    assert again.requires_grad and not again._backward_hooks


def test_volatile(torch):
    x = torch.ones(1)
    with pytest.warns(UserWarning, match="volatile was removed \\(Variable.volatile is always False\\)"):
        assert x.volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True


def test_gradients_of_inference_mode_are_inference_tensors(torch, leaf):
    x = leaf()
    y = (x * x).sum()
    with torch.inference_mode():
        (g,) = torch.autograd.grad(y, x)
    assert g.is_inference() and g.tolist() == [2.0, 2.0]


def test_switches_by_their_private_names(torch):
    assert torch._C._is_multithreading_enabled()
    with torch.autograd.set_multithreading_enabled(False):
        assert not torch._C._is_multithreading_enabled()
    torch._C._set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch._C._set_grad_enabled(True)


class Owned:
    """Something whose end can be seen."""


def _hooked(torch, x, owned):
    y = x.clone()
    y[0] = 5
    y.register_hook(lambda g, owned=owned: None)
    y[1:].copy_(x[:1])
    y.sum().backward()


def _created(torch, x, owned):
    y = x * x
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    g.register_hook(lambda g, owned=owned: None)


def _failed(torch, x, owned):
    def fail(g, owned=owned):
        raise ValueError

    y = x * 2
    y.register_hook(fail)
    with pytest.raises(ValueError):
        y.sum().backward()


def _queued(torch, x, owned):
    y = x * 2
    queue = torch.autograd.Variable._execution_engine.queue_callback
    y.register_hook(lambda g: queue(lambda owned=owned: None))
    y.sum().backward()


def _strided(torch, x, owned):
    w = x.view(2, 1).t() * 1
    v = w[0]
    v.add_(x)
    v.owned = owned
    w.sum().backward()


@pytest.mark.parametrize("use", [_hooked, _created, _failed, _queued, _strided])
def test_nothing_is_held_without_the_collector(torch, leaf, use):
    gc.collect()
    gc.disable()
    try:
        owned = Owned()
        ref = weakref.ref(owned)
        use(torch, leaf(2), owned)
        del owned
        assert ref() is None
    finally:
        gc.enable()
