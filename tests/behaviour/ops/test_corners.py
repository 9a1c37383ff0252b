"""Corners that programs rarely reach: what may be deleted, what is copied, who is warned."""

import importlib
import pickle
import sys
import warnings
from collections import OrderedDict

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # torch, the first time


def test_what_cannot_be_deleted(torch):
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    del x.grad
    assert x.grad is None
    for name, why in (
        ("data", "Deleting tensor data is not allowed"),
        ("requires_grad", "requires_grad must be a bool"),
        ("_grad_fn", "Deletion of _grad_fn not allowed"),
        ("_backward_hooks", "Deletion of _backwards_hooks not allowed"),
    ):
        with pytest.raises(RuntimeError, match=why):
            delattr(x, name)


def test_hooks_may_be_set_as_a_dict(torch):
    calls = []
    x = torch.ones(2, requires_grad=True)
    hooks = OrderedDict()
    hooks[0] = lambda g: calls.append(g.tolist())
    x._backward_hooks = hooks
    constant = torch.ones(2)
    constant._backward_hooks = OrderedDict()
    constant._backward_hooks["never"] = lambda g: calls.append("never")
    (x + constant).sum().backward()
    assert calls == [[1.0, 1.0]]


def test_first_gradient_under_create_graph_is_a_recorded_copy(torch):
    x = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x).sum().backward(create_graph=True)
    assert x.grad.grad_fn.name() == "torch::autograd::CopyBackwards"
    first, second = x.grad.grad_fn.next_functions
    assert first == (None, 0) and second[0].name() == "AddBackward0"
    (again,) = torch.autograd.grad(x.grad.sum(), x)
    assert again.tolist() == [2.0, 2.0]


def test_hooks_that_leave_their_block_leave_nothing_behind(torch):
    hooks = torch.autograd.graph.saved_tensors_hooks
    inner = hooks(lambda t: t, lambda t: (inner.__exit__(), t)[1])
    for _ in range(3):
        with hooks(lambda t: t, lambda t: t):
            inner.__enter__()
            torch.ones(3, requires_grad=True).sin().sum().backward()
    for _ in range(3):
        inner.__exit__()
    seen = []
    y = torch.ones(1, requires_grad=True).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: seen.append(1) or t, lambda t: t)
    assert seen == [1]


def test_hooks_entered_in_backward_end_with_it(torch):
    packed = []
    outer = torch.autograd.graph.saved_tensors_hooks(
        lambda t: packed.append(1) or t, lambda t: (outer.__enter__(), t)[1]
    )
    with outer:
        torch.ones(3, requires_grad=True).sin().sum().backward()
    packed.clear()
    torch.ones(3, requires_grad=True).sin()
    assert not packed


def test_set_gives_a_leaf_a_node_of_its_own(torch):
    x = torch.ones(2, requires_grad=True)
    edge = torch.autograd.graph.get_gradient_edge(x)
    out = x.clone()
    with torch.no_grad():
        x.set_(torch.zeros(2))
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        torch.autograd.grad(out.sum(), x)
    assert torch.autograd.grad(out.sum(), edge)[0].tolist() == [1.0, 1.0]
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_results_that_are_not_differentiable_may_come_as_none(torch):
    given = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a, b = x.clone(), x.clone()
            ctx.mark_non_differentiable(b)
            ctx._materialize_non_diff_grads = False
            return a, b

        @staticmethod
        def backward(ctx, first, second):
            given.append(second)
            return first

    Two.apply(torch.tensor(1.0, requires_grad=True))[0].backward()
    assert given == [None]


def test_views_of_constants_made_in_a_function_are_guarded(torch):
    class View(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, grad):
            return grad

    view = View.apply(torch.ones(1, 2))
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        view += torch.ones(1, requires_grad=True)


def test_saved_constants_come_back_as_themselves_from_a_checkpoint(torch):
    found = []

    class Test(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x

        @staticmethod
        def backward(ctx, grad):
            found.append(ctx.saved_tensors[0])
            return grad, None

    a, b = torch.tensor(1.0, requires_grad=True), torch.tensor(1.0)
    torch.utils.checkpoint.checkpoint(Test.apply, a, b, use_reentrant=False).backward()
    assert found[0] is b


def test_order_of_nodes_may_be_changed(torch):
    x = torch.ones(2, requires_grad=True)
    a, b = x + 1, x + 2
    c = a + b
    for t, number in ((a, 100), (b, 99), (c, 98)):
        t.grad_fn._set_sequence_nr(number)
        assert t.grad_fn._sequence_nr() == number
    order = []
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: order.append(name))
    c.sum().backward()
    assert order == ["c", "a", "b"]


def test_what_a_pass_says_of_itself(torch):
    kept = []

    class Ask(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            kept.append(torch._C._autograd._get_current_graph_task_keep_graph())
            return grad

    out = Ask.apply(torch.ones(2, requires_grad=True)).sum()
    out.backward(retain_graph=True)
    out.backward()
    assert kept == [True, False]


def test_will_execute_says_nothing_of_leaves_of_grad(torch):
    a = torch.ones(2, requires_grad=True)
    leaf = (a * 1).grad_fn.next_functions[0][0]
    out = a * 2
    out.register_hook(lambda g: torch._C._will_engine_execute_node(leaf) and None)
    with pytest.raises(RuntimeError, match=r"currently running autograd.grad\(\)"):
        torch.autograd.grad(out.sum(), (a,), retain_graph=True)
    out.sum().backward()


def test_data_of_another_layout(torch):
    x = torch.ones(1, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparse = torch.ones(1, 2).to_sparse()
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = sparse
    assert x.tolist() == [[1.0, 1.0]]


def test_anomaly_is_told_on_stderr_where_warnings_are_errors(torch, capsys):
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = torch.autograd.detect_anomaly()
    with mode, warnings.catch_warnings():
        warnings.simplefilter("error")
        a = torch.ones(2, requires_grad=True)
        d = a + 1
        out = d**2
        d += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(out.sum(), a)
    assert "Error detected in PowBackward0" in capsys.readouterr().err


def test_create_graph_warns_each_time_where_asked(torch):
    x = torch.ones(2, requires_grad=True)
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
                (x * x).sum().backward(create_graph=True)
            x.grad = None
    finally:
        torch.set_warn_always(before)


def test_old_constructors_take_sizes(torch):
    assert torch.ones(5).new(torch.Size([])).shape == ()
    assert torch.Tensor(torch.Size([])).shape == () and torch.Tensor(()).shape == (0,)
    assert torch.FloatTensor(torch.Size([2, 3])).shape == (2, 3)


def test_embedding_bag_in_its_old_order(torch):
    table = torch.tensor([[1.0], [2.0], [4.0]])
    with pytest.warns(UserWarning, match="Argument order of nn.functional.embedding_bag was changed"):
        out = torch.nn.functional.embedding_bag(table, torch.tensor([0, 1, 2]), torch.tensor([0, 2]), mode="sum")
    assert out.tolist() == [[3.0], [4.0]]


# -- forward mode --


def test_forward_mode_refuses_out(torch):
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        dual, plain = fwAD.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2)
        for call in (lambda: torch.add(plain, plain, out=dual), lambda: torch.add(dual, plain, out=plain)):
            with pytest.raises(NotImplementedError, match="add_out that does not support it because it is an out="):
                call()
        with pytest.raises(NotImplementedError, match="Trying to use forward AD with igamma that does not support it"):
            torch.igamma(dual, dual)


def test_detach_in_place_drops_the_tangent(torch):
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.ones(2), torch.ones(2)).clone()
        dual.detach_()
        assert fwAD.unpack_dual(dual * 2).tangent is None


def test_tangent_of_part_of_a_storage_has_a_storage_like_it(torch):
    fwAD = torch.autograd.forward_ad
    primal, tangent = torch.zeros(5)[:4].detach(), torch.ones(4)
    with fwAD.dual_level():
        dual = fwAD.make_dual(primal, tangent)
        found = fwAD.unpack_dual(dual).tangent
        found *= 2
        assert found.tolist() == [2.0] * 4 and tangent.tolist() == [1.0] * 4
        assert dual.as_strided((5,), (1,), 0).shape == (5,)


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("ok", None),
        ("copy", "jvp is not returning a view"),
        ("other", "is not returning a view of the given grad input"),
    ],
)
def test_tangents_of_views_are_views(torch, flag, why):
    fwAD = torch.autograd.forward_ad

    class Part(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.narrow(0, 0, 2)

        @staticmethod
        def jvp(ctx, tangent):
            found = tangent.narrow(0, 0, 2)
            if flag != "ok":
                found = found.clone()
            return found.view_as(found) if flag == "other" else found

    with fwAD.dual_level():
        dual = fwAD.make_dual(torch.ones(4), torch.ones(4))
        if why is None:
            assert fwAD.unpack_dual(Part.apply(dual)).tangent.tolist() == [1.0, 1.0]
        else:
            with pytest.raises(RuntimeError, match=why):
                Part.apply(dual)


# -- gradcheck --


def test_gradcheck_asks_for_missing_tangents(torch):
    fwAD = torch.autograd.forward_ad
    counts = [0]

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, x_t, y_t):
            counts[0] += 1
            assert fwAD._current_level == 0
            return x_t, y_t

    x, y = (torch.rand(1, dtype=torch.double, requires_grad=True) for _ in range(2))
    only = {"check_forward_ad": True, "check_backward_ad": False, "check_batched_grad": False}
    assert torch.autograd.gradcheck(Both.apply, (x, y), check_undefined_grad=False, **only)
    assert counts == [2]
    assert torch.autograd.gradcheck(Both.apply, (x, y), check_undefined_grad=True, **only)
    assert counts == [8]


@pytest.mark.parametrize(("what", "change"), [("shape", lambda t, x: t.cat([x, x])), ("dtype", lambda t, x: x.float())])
def test_gradcheck_refuses_results_that_change(torch, what, change):
    def function(x):
        return change(torch, x) if bool((x >= 1).all()) else x

    x = torch.ones(1, dtype=torch.double, requires_grad=True)
    with pytest.raises(AssertionError, match=f"return outputs with the same {what} when inputs are perturbed"):
        torch.autograd.gradcheck(function, (x,))


def test_gradcheck_warns_of_missing_gradients(torch):
    def broken(x):
        def hook(g):
            if g is None:
                raise RuntimeError("undefined")

        y = x.clone()
        y.register_hook(hook)
        return y

    x = torch.ones(1, dtype=torch.double, requires_grad=True)
    with pytest.warns(UserWarning, match="New undefined gradient support checking feature"):
        assert not torch.autograd.gradcheck(broken, (x,), raise_exception=False)


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_extremes_of_no_dimension_in_particular(torch, name):
    x = torch.ones(2, 2, requires_grad=True)
    y = getattr(torch, name)(x, None)
    y.backward()
    assert y.item() == 1 and x.grad.tolist() == [[0.25, 0.25], [0.25, 0.25]]
    assert getattr(x, name)(dim=None, keepdim=True).shape == (1, 1)
    with pytest.raises(TypeError, match="argument 'dim'"):
        getattr(x, name)("0")


def test_flags_that_are_none(torch):
    modes = torch.autograd.grad_mode
    for switch, name in (
        (modes.set_multithreading_enabled, "set_multithreading_enabled"),
        (modes._force_original_view_tracking, "set_view_replay_enabled"),
        (modes.enforce_grad_layout_policy, "set_grad_layout_enforcement_enabled"),
    ):
        with pytest.raises(TypeError, match=rf"^{name}\(\): argument 'enabled' \(position 1\) must be bool, not int$"):
            switch(1)
    assert torch.autograd.is_multithreading_enabled() and not torch.autograd.is_view_replay_enabled()
    with pytest.raises(RuntimeError, match=r"^setWarnOnlyOnce expects a bool, but got int"):
        torch.set_warn_always(1)
    for switch in ("set_warn_on_accumulate_grad_stream_mismatch", "set_override_stale_capture_stream"):
        with pytest.raises(RuntimeError, match=r"^enabled must be a bool, but got NoneType"):
            getattr(torch.autograd.graph, switch)(None)


def test_requires_grad_of_results_cannot_be_set(torch):
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"^you can only change requires_grad flags of leaf variables\.$"):
        y.requires_grad = True
    with pytest.raises(RuntimeError, match=r"flags of leaf variables\. If you want to use a computed variable"):
        y.requires_grad = False
    assert y.requires_grad_() is y and y.grad_fn is not None


def test_a_history_is_taken_away_by_setting_it_to_none(torch):
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="_grad_fn can be only set to None"):
        y._grad_fn = 3
    y._grad_fn = None
    assert y.is_leaf and not y.requires_grad


def test_where_classes_are_from(torch):
    checkpoint = importlib.import_module(f"{torch.__name__}.utils.checkpoint")
    graph = torch.autograd.graph
    for kind, place in (
        (graph.saved_tensors_hooks, "autograd.graph"),
        (graph.save_on_cpu, "autograd.graph"),
        (sys.modules[torch.autograd.gradcheck.__module__].GradcheckError, "autograd.gradcheck"),
        (checkpoint.CheckpointError, "utils.checkpoint"),
        (checkpoint.CheckpointPolicy, "utils.checkpoint"),
        (checkpoint.SelectiveCheckpointContext, "utils.checkpoint"),
    ):
        assert kind.__module__ == f"{torch.__name__}.{place}"
        assert pickle.loads(pickle.dumps(kind)) is kind
