"""Hooks on tensors and nodes."""

from __future__ import annotations

import pytest


def test_tensor_hook_sees_and_replaces(torch):
    x = torch.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g * 10)
    (x * 2).sum().backward()
    assert seen == [[2.0, 2.0]] and x.grad.tolist() == [20.0, 20.0]


def test_tensor_hook_on_non_leaf(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g + 1)
    (y * 3).backward()
    assert x.grad.item() == 8.0


def test_hook_fires_once_on_the_sum(torch):
    x = torch.ones(1, requires_grad=True)
    calls = []
    x.register_hook(lambda g: calls.append(g.item()))
    (x * 2 + x * 3).backward()
    assert calls == [5.0]


def test_handle_removes(torch):
    x = torch.ones(1, requires_grad=True)
    handle = x.register_hook(lambda g: g * 0)
    handle.remove()
    handle.remove()
    (x * 2).backward()
    assert x.grad.item() == 2.0
    with x.register_hook(lambda g: g * 0):
        pass
    (x * 2).backward()
    assert x.grad.item() == 4.0


def test_hook_needs_requires_grad(torch):
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)


def test_hook_must_not_change_the_shape(torch):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g[:1])
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        (x * 2).sum().backward()


def test_hook_must_return_a_tensor(torch):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: 1)
    with pytest.raises((TypeError, RuntimeError)):
        (x * 2).sum().backward()


def test_hook_that_raises(torch):
    x = torch.ones(1, requires_grad=True)

    def hook(g):
        raise ValueError("stop")

    handle = x.register_hook(hook)
    with pytest.raises(ValueError, match="stop"):
        (x * 2).backward()
    handle.remove()
    (x * 2).backward()
    assert x.grad.item() == 2.0


def test_order_at_a_leaf(torch):
    x = torch.ones(1, requires_grad=True)
    order = []
    y = x * 2
    leaf = y.grad_fn.next_functions[0][0]
    x.register_post_accumulate_grad_hook(lambda t: order.append("post accumulate"))
    leaf.register_hook(lambda gi, go: order.append("node post"))
    leaf.register_prehook(lambda go: order.append("node pre"))
    x.register_hook(lambda g: order.append("tensor"))
    y.backward()
    assert order == ["tensor", "node pre", "post accumulate", "node post"]


def test_post_accumulate_sees_the_tensor(torch):
    x = torch.ones(2, requires_grad=True)
    seen = []

    def hook(t):
        seen.append((t is x, t.grad.tolist()))
        t.grad = None

    x.register_post_accumulate_grad_hook(hook)
    (x * 2).sum().backward()
    assert seen == [(True, [2.0, 2.0])] and x.grad is None


def test_post_accumulate_only_on_leaves(torch):
    y = torch.ones(1, requires_grad=True) * 2
    with pytest.raises(RuntimeError):
        y.register_post_accumulate_grad_hook(lambda t: None)


def test_leaf_is_served_as_soon_as_it_is_ready(torch):
    order = []
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    a.register_post_accumulate_grad_hook(lambda t: order.append("a"))
    b.register_post_accumulate_grad_hook(lambda t: order.append("b"))
    m = a * 2
    m.register_hook(lambda g: order.append("m"))
    (m * b).backward()
    assert order == ["b", "m", "a"]


def test_retain_grad(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    (y * 3).backward()
    assert y.retains_grad and y.grad.item() == 30.0 and x.grad.item() == 60.0


def test_retain_grad_of_what_requires_none(torch):
    with pytest.raises(RuntimeError):
        torch.ones(1).retain_grad()
    x = torch.ones(1, requires_grad=True)
    x.retain_grad()
    assert not x.retains_grad


def test_node_hook_replaces_grad_inputs(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, *gi[1:]))
    y.backward()
    assert x.grad.item() == 20.0


def test_node_prehook_replaces_grad_outputs(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(lambda go: (go[0] * 5,))
    y.backward()
    assert x.grad.item() == 10.0


def test_hook_on_unused_sibling_gets_none(torch):
    x = torch.arange(4.0, requires_grad=True)
    a, b = x.split(2)
    seen = []
    b.register_hook(lambda g: seen.append(g))
    a.sum().backward()
    assert seen == [None] and x.grad.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_multi_grad_hook_all(torch):
    a, b, c = (torch.ones(1, requires_grad=True) for _ in range(3))
    seen = []
    handle = torch.autograd.graph.register_multi_grad_hook(
        (a, b, c), lambda grads: seen.append([None if g is None else g.item() for g in grads])
    )
    (a * 2 + b * 3).backward()
    assert seen == [[2.0, 3.0, None]]
    handle.remove()
    (a * 2 + b * 3).backward()
    assert len(seen) == 1


def test_multi_grad_hook_any(torch):
    a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    seen = []
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.item()), mode="any")
    (a * 2 + b * 2).backward()
    assert seen == [2.0]
    with pytest.raises(ValueError):
        torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: None, mode="some")


def test_hooks_stay_with_the_old_value_after_in_place(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.mul_(5)
    y.backward()
    assert seen == [5.0] and x.grad.item() == 10.0


def test_retain_grad_follows_the_new_value(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.backward()
    assert y.grad.item() == 1.0


def test_create_graph_hooks_record(torch):
    x = torch.ones(1, requires_grad=True)
    x.register_hook(lambda g: g * 3)
    (g,) = torch.autograd.grad((x**3), x, create_graph=True)
    assert g.item() == 9.0 and g.requires_grad


def test_metadata_and_names(torch):
    x = torch.ones(1, requires_grad=True)
    y = x * 2
    assert y.grad_fn.name() == "MulBackward0"
    y.grad_fn.metadata["k"] = 1
    assert y.grad_fn.metadata == {"k": 1}
    leaf = y.grad_fn.next_functions[0][0]
    assert type(leaf).__name__ == "AccumulateGrad" and leaf.variable is x
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)


def test_callbacks_at_the_end_of_backward(torch):
    order = []

    class Note(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            torch.autograd.Variable._execution_engine.queue_callback(lambda: order.append("end"))
            return g

    x = torch.ones(1, requires_grad=True)
    y = Note.apply(x * 2)
    x.register_hook(lambda g: order.append("leaf"))
    y.backward()
    assert order == ["leaf", "end"]
    with pytest.raises(RuntimeError, match="during backward pass"):
        torch.autograd.Variable._execution_engine.queue_callback(lambda: None)


def test_variable_is_a_tensor(torch):
    v = torch.autograd.Variable(torch.ones(1), requires_grad=True)
    assert v.requires_grad and isinstance(v, torch.Tensor) and isinstance(v, torch.autograd.Variable)


def test_hooks_of_the_only_root_are_called_though_no_input_is_reached(torch):
    seen = []
    x, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.grad_fn.register_prehook(lambda gs: seen.append("node"))
    assert torch.autograd.grad(y, [other], torch.ones(2), allow_unused=True, retain_graph=True) == (None,)
    assert seen == [[1.0, 1.0]]
    assert y.grad.tolist() == [1.0, 1.0]
    torch.autograd.grad([y, x * 3], [other], [torch.ones(2)] * 2, allow_unused=True, retain_graph=True)
    torch.autograd.grad(y.sum(), [other], allow_unused=True, retain_graph=True)
    assert len(seen) == 1
    x.register_hook(lambda g: seen.append("leaf"))
    x.backward(torch.ones(2), inputs=[other])
    assert seen[1:] == ["leaf"]
    assert x.grad is None


def test_a_hook_after_accumulation_may_return_the_leaf(torch):
    x = torch.ones(2, requires_grad=True)
    handle = x.register_post_accumulate_grad_hook(lambda t: t)
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    handle.remove()
    x.register_post_accumulate_grad_hook(lambda t: t.grad)
    with pytest.raises(RuntimeError, match="Tensor post accumulate grad hooks should return None"):
        x.sum().backward()


def test_retain_grad_after_a_pass_for_a_batch_of_gradients(torch):
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y * 3
    batch = torch.eye(3)
    for _ in range(2):
        (grad,) = torch.autograd.grad(z, x, batch, is_grads_batched=True, retain_graph=True)
        assert torch.equal(grad, 6 * batch)
        assert torch.autograd.grad(z.sum(), x, retain_graph=True)[0].tolist() == [6.0] * 3
