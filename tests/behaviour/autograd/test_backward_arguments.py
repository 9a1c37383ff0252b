"""What backward and grad take: inputs in every form, edges, batches, and what they refuse in which words."""

from __future__ import annotations

import types
from collections import OrderedDict

import pytest


def leaf(torch, *values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


def test_inputs_as_a_dict(torch):
    x, z = leaf(torch), leaf(torch, 3.0, 4.0)
    y = (x * z).sum()
    torch.autograd.backward(y, inputs={"x": x}, retain_graph=True)
    assert x.grad.tolist() == [3.0, 4.0] and z.grad is None
    found = torch.autograd.grad(y, {"b": z, "a": x}, retain_graph=True)
    assert list(found) == ["b", "a"] and found["b"].tolist() == [1.0, 2.0]
    for other in (OrderedDict(x=x), types.MappingProxyType({"x": x})):
        with pytest.raises(TypeError, match=r"argument to `backward\(\)` must be a dict, not"):
            torch.autograd.backward(y, inputs=other, retain_graph=True)
        with pytest.raises(TypeError, match=r"argument to `grad\(\)` must be a dict, not"):
            torch.autograd.grad(y, other, retain_graph=True)
    for call in (torch.autograd.grad, lambda y, inputs: torch.autograd.backward(y, inputs=inputs)):
        with pytest.raises(RuntimeError, match="cannot be empty"):
            call(y, {})


def test_inputs_and_outputs_as_iterators(torch):
    x = leaf(torch)
    y = (x * x).sum()
    torch.autograd.backward((t for t in [y]), inputs=(t for t in [x]), retain_graph=True)
    assert x.grad.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.backward(y, inputs=iter(()))
    (g,) = torch.autograd.grad((t for t in [y]), (t for t in [x]))
    assert g.tolist() == [2.0, 4.0]


def test_deprecated_grad_variables(torch):
    x = leaf(torch)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        torch.autograd.backward(x * 2, grad_variables=torch.ones(2))
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="arguments both passed"):
        torch.autograd.backward(x * 2, torch.ones(2), grad_variables=torch.ones(2))


def test_more_gradients_than_outputs_are_ignored_and_fewer_refused(torch):
    x = leaf(torch)
    y = x.sum()
    torch.autograd.backward([y], [None, torch.ones(7)])
    assert x.grad.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        torch.autograd.backward([y, y], [None])


@pytest.mark.parametrize("bad", ["abc", [3.0], [None]])
def test_outputs_that_are_no_tensors(torch, bad):
    x = leaf(torch)
    with pytest.raises(AssertionError, match=r"Expected output to be a torch\.Tensor"):
        torch.autograd.grad(bad, x)
    with pytest.raises(AssertionError, match=r"Expected output to be a torch\.Tensor"):
        torch.autograd.backward(bad)


def test_inputs_that_are_no_tensors(torch):
    y = leaf(torch).sum()
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges, but got NoneType"):
        torch.autograd.grad(y, [None])
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges, but got float"):
        torch.autograd.backward(y, inputs=[3.0])
    with pytest.raises(TypeError, match="not iterable"):
        torch.autograd.grad(y, None)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.autograd.backward(y, inputs=[torch.ones(2)])


@pytest.mark.parametrize("bad", [[[1.0, 1.0]], [3.0]])
def test_gradients_that_are_no_tensors(torch, bad):
    x = leaf(torch)
    with pytest.raises(TypeError, match="gradients can be either Tensors or None, but got"):
        torch.autograd.grad(x * 2, x, bad)


def test_the_unused_input_is_named_by_its_index(torch):
    x, other = leaf(torch), leaf(torch)
    with pytest.raises(RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"):
        torch.autograd.grad(x.sum(), [x, other])


def test_the_output_that_needs_no_gradient_is_named_by_its_index(torch):
    x = leaf(torch)
    for constant in (torch.ones(1), torch.ones(2)):
        given = torch.ones(2) if constant.numel() == 2 else None
        with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
            torch.autograd.grad([x.sum(), constant], x, [None, given])


def test_complex_and_real_do_not_mix(torch):
    x = leaf(torch)
    with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output"):
        torch.autograd.grad(x * 2, x, torch.ones(2, dtype=torch.complex64))
    z = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output"):
        torch.autograd.grad(z * 2, z, torch.ones(2))
    with pytest.raises(RuntimeError, match="only for real scalar outputs but got"):
        z.sum().backward()


@pytest.mark.parametrize("given", ["float64", "float16", "int64", "bool"])
def test_a_gradient_takes_the_dtype_of_its_output(torch, given):
    x = leaf(torch)
    (g,) = torch.autograd.grad(x * 2, x, torch.ones(2, dtype=getattr(torch, given)))
    assert g.dtype == torch.float32 and g.tolist() == [2.0, 2.0]


def test_the_same_input_twice_gives_the_same_gradient_twice(torch):
    x = leaf(torch)
    a, b = torch.autograd.grad((x * x).sum(), [x, x])
    assert a is b and a.tolist() == [2.0, 4.0]
    (x * x).sum().backward(inputs=[x, x])
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_gradient_that_arrives_as_it_was_sent_is_the_same_tensor(torch):
    x, g = leaf(torch), torch.ones(2)
    assert torch.autograd.grad(x, x, g)[0] is g


def test_gradients_of_non_leaves_accumulate_where_backward_names_them(torch):
    x = leaf(torch)
    y = x * 3
    z = (y * y).sum()
    torch.autograd.backward(z, inputs=y, retain_graph=True)
    assert y.grad.tolist() == [6.0, 12.0] and x.grad is None and y.retains_grad
    torch.autograd.backward(z, inputs=[y, z], retain_graph=True)
    assert y.grad.tolist() == [12.0, 24.0] and z.grad.item() == 1.0


def test_materialized_zeros_require_grad_under_create_graph(torch):
    x, unused = leaf(torch), leaf(torch, 1.0, 2.0, 3.0)
    _, zeros = torch.autograd.grad((x * x).sum(), [x, unused], materialize_grads=True, create_graph=True)
    assert zeros.tolist() == [0.0, 0.0, 0.0] and zeros.requires_grad
    _, zeros = torch.autograd.grad((x * x).sum(), [x, unused], materialize_grads=True)
    assert not zeros.requires_grad
    edge = torch.autograd.graph.get_gradient_edge(unused)
    with pytest.raises(RuntimeError, match="materialize_grads cannot be used when the given input is a GradientEdge"):
        torch.autograd.grad(x.sum(), [x, edge], materialize_grads=True)


def test_edges_as_outputs_know_their_shape_and_dtype(torch):
    edge = torch.autograd.graph.get_gradient_edge
    x = leaf(torch)
    y = x * x
    z = y.sum()
    (g,) = torch.autograd.grad(edge(z), edge(x), retain_graph=True)
    assert g.tolist() == [2.0, 4.0]
    torch.autograd.backward([edge(z), y], [None, torch.ones(2)], retain_graph=True)
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(edge(y), x)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.autograd.grad(edge(y), x, torch.ones(3))
    with pytest.raises(RuntimeError, match="For complex Tensors"):
        torch.autograd.grad(edge(y), x, torch.ones(2, dtype=torch.complex64))


def test_edges_made_by_hand(torch):
    place = torch.autograd.graph.GradientEdge
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    u, v = m.unbind(0)
    y = (u * v).sum()
    got = torch.autograd.grad(y, [place(v.grad_fn, 1), place(u.grad_fn, 0)], retain_graph=True)
    assert [g.tolist() for g in got] == [[1.0, 2.0], [3.0, 4.0]]
    (g,) = torch.autograd.grad(place(v.grad_fn, 1), m, torch.ones(2))
    assert g.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_an_edge_keeps_a_leaf_but_not_a_result(torch):
    edge = torch.autograd.graph.get_gradient_edge(torch.ones(2, requires_grad=True))
    assert edge.node.variable.tolist() == [1.0, 1.0]
    x = leaf(torch)
    assert torch.autograd.graph.get_gradient_edge(x) == torch.autograd.graph.get_gradient_edge(x)
    with pytest.raises(RuntimeError, match="not possible to get the gradient edge for a Tensor that does not require"):
        torch.autograd.graph.get_gradient_edge(torch.ones(1))


def test_a_leaf_that_was_dropped_is_still_in_the_graph(torch):
    def build():
        w = torch.tensor([1.0, 2.0], requires_grad=True)
        w.data = torch.tensor([3.0, 4.0])
        w.register_post_accumulate_grad_hook(lambda p: seen.append((p.tolist(), p.grad.tolist())))
        return (w * 2).sum()

    seen = []
    y = build()
    node = y.grad_fn.next_functions[0][0].next_functions[0][0]
    assert node.variable.tolist() == [3.0, 4.0] and node.variable.requires_grad
    (g,) = torch.autograd.grad(y, node.variable, retain_graph=True)
    assert g.tolist() == [2.0, 2.0]
    y.backward()
    assert seen == [([3.0, 4.0], [2.0, 2.0])]
    assert node.variable.grad.tolist() == [2.0, 2.0]


def test_batches_of_gradients(torch):
    x = leaf(torch, 1.0, 2.0, 3.0)
    unused = leaf(torch)
    y = x**2

    def grad(outputs, inputs, grads, **options):
        return torch.autograd.grad(outputs, inputs, grads, is_grads_batched=True, retain_graph=True, **options)

    (g,) = grad([y, y.sum()], x, [torch.eye(3), torch.tensor([0.0, 0.0, 1.0])])
    assert g.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [2.0, 4.0, 12.0]]
    g, none = grad(y, [x, unused], torch.eye(3), allow_unused=True)
    assert g.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]] and none is None
    _, zeros = grad(y, [x, unused], torch.eye(3), materialize_grads=True)
    assert zeros.tolist() == [0.0, 0.0]
    (g,) = grad(y, x, torch.eye(3), create_graph=True)
    assert torch.autograd.grad(g.sum(), x, retain_graph=True)[0].tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="the first dimension of each grad_output as the batch dimension"):
        grad(y, x, torch.ones(3))
    with pytest.raises(ValueError, match="dimensionality 0"):
        grad(y.sum(), x, None)
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        grad([y, y.sum()], x, [torch.eye(3), torch.ones(2)])
    with pytest.raises(IndexError):
        grad(y, x, torch.ones(0, 3))


def test_a_batch_of_gradients_is_one_pass(torch):
    x = leaf(torch)
    y = x * x
    ran = []
    y.register_hook(lambda g: ran.append(1))
    torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    assert len(ran) == 1


def test_names_of_what_was_called(torch):
    with pytest.raises(TypeError, match=r"Tensor\.backward\(\) takes from 1 to 5 positional arguments but 6 were"):
        torch.ones(1).backward(1, 2, 3, 4, 5)
    assert torch.Tensor.backward.__qualname__ == "Tensor.backward"


def test_a_node_computes_the_gradients_only_that_lead_to_inputs(torch):
    a, x = leaf(torch), leaf(torch, 3.0, 4.0)
    y = torch.special.gammainc(a, x)  # of which there is no gradient for `a`
    (g,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    (expected,) = torch.autograd.grad(torch.special.gammainc(a.detach(), x).sum(), x)
    assert g.tolist() == expected.tolist()
    y.sum().backward(inputs=[x], retain_graph=True)
    assert x.grad.tolist() == g.tolist() and a.grad is None
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.autograd.grad(y.sum(), a)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16"])
def test_gradients_that_are_not_asked_for_are_none_for_hooks(torch, dtype):
    x, w, b = (torch.ones(*s, dtype=getattr(torch, dtype), requires_grad=True) for s in ((3, 5), (4, 5), (4,)))
    unpacked = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(sorted(t.shape)) or t):
        y = torch.nn.functional.linear(x, w, b)
    seen = []
    y.grad_fn.register_hook(
        lambda gradients, _: seen.append(sorted(tuple(g.shape) for g in gradients if g is not None))
    )
    torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    torch.autograd.grad(y, [b, w], torch.ones_like(y))
    assert seen in ([[(3, 5)], [(4,), (4, 5)]], [[(3, 5)], [(4,), (5, 4)]])
    assert sorted(unpacked) == [[3, 5], [3, 5], [4, 5], [4, 5]]  # what was saved is looked at in any case


def test_a_saved_tensor_that_was_modified_is_refused_even_where_it_is_not_asked_for(torch):
    x, w = leaf(torch), leaf(torch, 3.0, 4.0)
    y = (x * w).sum()
    with torch.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(y, x)
