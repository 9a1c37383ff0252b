"""`torch.autograd.graph`: nodes, edges, and what they say of themselves."""

from __future__ import annotations

import copy
import pickle

import pytest


def test_node_is_abstract(torch):
    Node = torch.autograd.graph.Node
    y = torch.ones(1, requires_grad=True).exp()
    assert isinstance(y.grad_fn, Node) and issubclass(type(y.grad_fn), Node)
    assert isinstance(y.grad_fn.next_functions[0][0], Node)
    assert not isinstance(3, Node) and not issubclass(int, Node)
    with pytest.raises(TypeError, match="abstract"):
        Node()
    assert {"name", "metadata", "next_functions", "register_hook", "register_prehook"} <= Node.__abstractmethods__


def test_function_nodes(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    node = Double.apply(torch.ones(1, requires_grad=True)).grad_fn
    assert isinstance(node, torch.autograd.graph.Node) and node.name() == type(node).__name__ == "DoubleBackward"
    assert node.next_functions[0][0].name() == "torch::autograd::AccumulateGrad" and node.metadata == {}


def test_identity_and_hash(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert y.grad_fn is y.grad_fn and len({y.grad_fn, y.grad_fn}) == 1 and y.grad_fn != (x * 2).grad_fn
    leaf = y.grad_fn.next_functions[0][0]
    assert leaf is (x * 3).grad_fn.next_functions[0][0] and leaf.variable is x and leaf.next_functions == ()
    a, b = x.unbind()
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    assert (b * 2).grad_fn.next_functions[0] == (a.grad_fn, 1)


def test_nodes_do_not_travel(torch):
    node = (torch.ones(1, requires_grad=True) * 2).grad_fn
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'MulBackward0' object"):
            call(node)
    for name in ("foo", "metadata", "next_functions", "_saved_self"):
        with pytest.raises(AttributeError):
            setattr(node, name, 1)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x ** 2", "PowBackward0"),
        ("x ** x", "PowBackward1"),
        ("2 ** x", "PowBackward2"),
        ("x.squeeze()", "SqueezeBackward0"),
        ("x.squeeze(0)", "SqueezeBackward1"),
        ("x.squeeze((0, 1))", "SqueezeBackward2"),
        ("x @ x", "MmBackward0"),
        ("x @ x[0]", "MvBackward0"),
        ("x[0] @ x[0]", "DotBackward0"),
        ("torch.nn.functional.linear(x, x)", "MmBackward0"),
        ("torch.nn.functional.linear(x, x, x[0])", "AddmmBackward0"),
        ("torch.lerp(x, x, 0.5)", "LerpBackward0"),
        ("torch.lerp(x, x, x)", "LerpBackward1"),
        ("x % 2", "RemainderBackward0"),
        ("x % x", "RemainderBackward1"),
        ("x.clamp_min(0)", "ClampMinBackward0"),
        ("x.clamp_min(x)", "ClampMinBackward1"),
        ("torch.div(x, x, rounding_mode='floor')", "DivBackward2"),
        ("1 - x", "RsubBackward1"),
        ("x.sum()", "SumBackward0"),
        ("x.sum(0)", "SumBackward1"),
        ("x.sum_to_size(())", "SumBackward0"),
    ],
)
def test_names_by_variant_of_the_call(torch, text, name):
    x = torch.ones(2, 2, requires_grad=True)
    y = eval(text, {"torch": torch, "x": x})
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == name
    assert f"<{name}>" in repr(y)
    last = eval(text, {"torch": torch, "x": x}).sum()
    last.backward()
    assert last.grad_fn.next_functions[0][0].name() == name


def test_multiplying_by_a_number_from_the_left(torch):
    x = torch.ones(2, requires_grad=True)
    for y in (3 * x, x * 3, 3 + x, x + 3):
        assert [n is None for n, _ in y.grad_fn.next_functions] == [False, True]


def test_gradient_edges(torch):
    graph = torch.autograd.graph
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    edge = graph.get_gradient_edge(y)
    assert edge._fields == ("node", "output_nr", "ownership_token") and edge.node is y.grad_fn and edge.output_nr == 0
    assert edge.ownership_token is None
    leaf = graph.get_gradient_edge(x)
    del y
    assert torch.autograd.grad(edge, leaf, torch.ones(2))[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(torch.ones(1))
    total = (x * 3).sum()
    assert torch.autograd.grad(graph.get_gradient_edge(total), x)[0].tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        torch.autograd.grad(graph.get_gradient_edge(x * 2), x)


def test_gradient_edges_made_by_hand(torch):
    GradientEdge = torch.autograd.graph.GradientEdge
    x = torch.ones(2, requires_grad=True)
    a, b = (x * 2).unbind()
    edge = GradientEdge(b.grad_fn, 1)
    assert torch.autograd.grad(a + b * 5, edge, retain_graph=True)[0].item() == 5.0
    assert torch.autograd.grad(edge, x, torch.tensor(4.0))[0].tolist() == [0.0, 8.0]


def test_input_metadata(torch):
    x = torch.ones(2, 3, requires_grad=True)
    (found,) = x.double().grad_fn._input_metadata
    assert tuple(found.shape) == (2, 3) and found.dtype == torch.float64 and found.device == torch.device("cpu")
    parts = x.split((1, 2), 1)
    assert [tuple(p.grad_fn._input_metadata[i].shape) for i, p in enumerate(parts)] == [(2, 1), (2, 2)]
    assert len(parts[0].grad_fn._input_metadata) == 2
    assert [tuple(m.shape) for m in (x * 2).grad_fn.next_functions[0][0]._input_metadata] == [(2, 3)]


def test_increment_version(torch):
    graph = torch.autograd.graph
    x = torch.ones(2)
    view = x[:1]
    graph.increment_version(x)
    graph.increment_version([x, view])
    graph.increment_version(t for t in (x,))
    assert x._version == view._version == 4
    with pytest.raises(RuntimeError, match="Iterable"):
        graph.increment_version(3)
    with pytest.raises(RuntimeError, match="each element of the iterable to be a tensor"):
        graph.increment_version([3])
    with torch.inference_mode():
        inference = torch.ones(2)
    graph.increment_version(inference)


def test_all(torch, real):
    additions = set() if real else {"GraphDrawing", "draw"}
    assert set(torch.autograd.graph.__all__) - additions == {
        *("GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks"),
        *("get_gradient_edge", "increment_version", "region_activation_memory_budget", "register_multi_grad_hook"),
        *("save_on_cpu", "saved_tensors_hooks", "set_override_stale_capture_stream"),
        "set_warn_on_accumulate_grad_stream_mismatch",
    }
    with pytest.raises(RuntimeError, match=r"only be used inside a torch\.compile region"):
        torch.autograd.graph.region_activation_memory_budget(0.5)


def test_multi_grad_hooks(torch):
    register = torch.autograd.graph.register_multi_grad_hook
    a, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    d, e = a * b, b * c
    seen = []
    handle = register((a, b, c, d, e), lambda grads: seen.append([g is not None for g in grads]))
    out = (d + e).sum()
    out.backward(retain_graph=True)
    out.backward(inputs=(a,), retain_graph=True)
    d.sum().backward(retain_graph=True)
    assert seen == [[True] * 5, [True, False, False, True, False], [True, True, False, True, False]]
    assert isinstance(handle, type(a.register_hook(lambda g: None)).__mro__[0])
    handle.remove()
    handle.remove()
    out.backward()
    assert len(seen) == 3


@pytest.mark.parametrize("wanted", ["result", "other leaf", "leaf"])
def test_multi_grad_hook_on_a_leaf_under_grad(torch, wanted):
    """It waits for leaves that `grad` does not ask for no more than backward does for those it does not reach."""
    x, w = (torch.ones(2, requires_grad=True) for _ in range(2))
    y = x * w
    seen = []
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda g: seen.append([v is None for v in g]))
    inputs = {"result": y, "other leaf": w, "leaf": x}[wanted]
    if wanted == "leaf":
        with pytest.raises(RuntimeError, match="A leaf node was passed to _will_engine_execute_node"):
            torch.autograd.grad((y * 2).sum(), inputs)
    else:
        torch.autograd.grad((y * 2).sum(), inputs)
        assert seen == [[True, False]]


def test_multi_grad_hook_after_an_error(torch):
    a, b = (torch.ones(2, requires_grad=True) for _ in range(2))
    seen = []
    bad = b.register_hook(lambda g: 1 / 0)
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda grads: seen.append(len(grads)))
    with pytest.raises(ZeroDivisionError):
        (a * b).sum().backward()
    bad.remove()
    (a * b).sum().backward()
    assert seen == [2]


def test_multi_grad_hook_of_what_needs_no_gradient(torch):
    register = torch.autograd.graph.register_multi_grad_hook
    a, b = torch.ones(1, requires_grad=True), torch.ones(1)
    with pytest.raises(AssertionError, match="Expected gradient function to be set"):
        register((a, b), lambda grads: None)
    seen = []
    with register((a, b), seen.append, mode="any"):
        (a * b).backward()
    (a * b).backward()
    assert len(seen) == 1


def test_number_of_the_pass(torch):
    current = torch._C._current_graph_task_id
    x = torch.ones(1, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(current()))
    (x * 2).backward()
    (x * 2).backward()
    assert seen[0] >= 0 and seen[1] == seen[0] + 1 and current() == -1
    y = x * 2
    node, other = y.grad_fn, (x * 3).grad_fn
    will = torch._C._will_engine_execute_node
    x.register_hook(lambda g: seen.append((will(node), will(other))))
    (y * 1).backward()
    assert seen[-1] == (True, False)
    with pytest.raises(RuntimeError, match="only be called during the backward pass"):
        will(node)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time
def test_nodes_that_are_of_no_operation_are_builtin_too(torch, leaf):
    x, z = leaf(), torch.zeros(4)
    z[:2] = x
    for node, name in ((z.grad_fn, "CopySlices"), (z.grad_fn.next_functions[1][0], "AccumulateGrad")):
        assert repr(type(node)) == f"<class '{name}'>" and node.name() == f"torch::autograd::{name}"
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(2))
        primal = torch.autograd.forward_ad.unpack_dual(dual).primal
        assert primal.grad_fn.name() == "torch::autograd::Identity" and "grad_fn=<Identity>" in repr(primal)


def test_sequence_numbers_that_are_none(torch, leaf):
    node = (leaf() * 2).grad_fn
    node._set_sequence_nr(2**64 - 1)
    assert node._sequence_nr() == 2**64 - 1
    for number, error in ((-1, OverflowError), (2**64, OverflowError), (3.5, TypeError), (None, TypeError)):
        with pytest.raises(error):
            node._set_sequence_nr(number)
    assert node._sequence_nr() == 2**64 - 1
