"""The profiler: what events there are, what they know, how they lie inside of each other."""

from __future__ import annotations

import json
import threading
import warnings

import pytest

EVALUATE = "autograd::engine::evaluate_function: "


def names(prof):
    return [event.name for event in prof.function_events]


def named(prof, name):
    found = [event for event in prof.function_events if event.name == name]
    assert found, f"{name} is not among {names(prof)}"
    return found


def top(prof):
    return [event.name for event in prof.function_events if event.cpu_parent is None]


def test_operations_and_nodes_have_events(torch, profiler, leaf):
    x = leaf(3)
    with profiler.profile() as prof:
        y = x * 2
        y.sum().backward()
    assert [n for n in top(prof) if n in ("aten::mul", "aten::sum")] == ["aten::mul", "aten::sum"]
    for name in ("SumBackward0", "MulBackward0", "torch::autograd::AccumulateGrad"):
        (event,) = named(prof, name)
        assert event.scope == 1 and event.cpu_parent.name == EVALUATE + name
        (around,) = named(prof, EVALUATE + name)
        assert around.scope == 0 and event in around.cpu_children and around.cpu_parent is None
    order = [n for n in names(prof) if n.startswith(EVALUATE)]
    assert [n.removeprefix(EVALUATE) for n in order] == [
        "SumBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]


def test_forward_and_backward_share_sequence_numbers(torch, profiler, leaf):
    with profiler.profile() as prof:
        y = leaf(3) * 2
        z = y.exp()
        z.sum().backward()
    for forward, backward, node in (("aten::mul", "MulBackward0", y.grad_fn), ("aten::exp", "ExpBackward0", z.grad_fn)):
        first = next(e for e in named(prof, forward) if e.cpu_parent is None)
        (second,) = named(prof, backward)
        assert first.sequence_nr == second.sequence_nr == node._sequence_nr() >= 0
        assert second.fwd_thread == first.thread
    (leaf_event,) = named(prof, "torch::autograd::AccumulateGrad")
    assert leaf_event.sequence_nr == -1


def test_what_is_not_recorded_has_no_sequence_number(torch, profiler):
    a = torch.ones(3)
    with torch.no_grad():
        with profiler.profile() as prof:
            _ = a.exp()
    (event,) = named(prof, "aten::exp")
    assert event.sequence_nr == -1 and event.scope == 0 and event.count == 1 and not event.is_user_annotation


def test_blocks_of_the_user(torch, profiler):
    a = torch.ones(3)
    with profiler.profile() as prof:
        with profiler.record_function("outer"):
            a.exp()
            with profiler.record_function("inner"):
                a.sin()
    (outer,), (inner,) = named(prof, "outer"), named(prof, "inner")
    assert [child.name for child in outer.cpu_children] == ["aten::exp", "inner"]
    assert [child.name for child in inner.cpu_children] == ["aten::sin"]
    assert outer.scope == inner.scope == 7 and outer.is_user_annotation and inner.cpu_parent is outer
    assert outer.cpu_time_total >= inner.cpu_time_total > 0
    assert outer.self_cpu_time_total == pytest.approx(
        outer.cpu_time_total - sum(child.cpu_time_total for child in outer.cpu_children)
    )


def test_record_function_decorates(torch, profiler):
    @profiler.record_function("twice")
    def twice(x, n=0):
        """Doubles."""
        return x * 2 if not n else twice(x, n - 1)

    assert twice.__name__ == "twice" and twice.__doc__ == "Doubles."
    with profiler.profile() as prof:
        assert twice(torch.ones(2), n=2).tolist() == [2, 2]
    if len(named(prof, "twice")) == 1:  # calls that are all there is inside of each other are one
        assert named(prof, "aten::mul")[0].cpu_parent is named(prof, "twice")[0]
    else:
        assert len(named(prof, "twice")) == 3


def test_an_exception_ends_a_block_and_an_operation(torch, profiler):
    with profiler.profile() as prof:
        with pytest.raises(RuntimeError):
            with profiler.record_function("fails"):
                torch.ones(3) + torch.ones(4)
        torch.ones(3).exp()
    (failed,) = named(prof, "fails")
    assert "aten::add" in [child.name for child in failed.cpu_children]
    assert named(prof, "aten::exp")[0].cpu_parent is None


def test_a_record_function_without_a_profiler_does_nothing(torch, profiler):
    with profiler.record_function("alone", "with text") as block:
        assert isinstance(block, profiler.record_function) and block.name == "alone" and block.args == "with text"


def test_shapes(torch, profiler):
    with profiler.profile(record_shapes=True) as prof:
        torch.ones(2, 3) * torch.ones(3)
        torch.ones(2, 3).exp()
    (event,) = named(prof, "aten::mul")
    assert event.input_shapes == [[2, 3], [3]]
    assert named(prof, "aten::exp")[0].input_shapes == [[2, 3]]
    with profiler.profile() as prof:
        torch.ones(2, 3).exp()
    assert named(prof, "aten::exp")[0].input_shapes == []


def test_shapes_of_gradients(torch, profiler, leaf):
    x = leaf(2, 3)
    with profiler.profile(record_shapes=True) as prof:
        (x * 2).sum().backward()
    assert named(prof, "SumBackward0")[0].input_shapes == [[]]
    assert named(prof, "MulBackward0")[0].input_shapes == [[2, 3]]


def test_numbers_among_arguments(torch, profiler):
    with profiler.profile(record_shapes=True) as prof:
        torch.add(torch.ones(2), torch.ones(2), alpha=3)
    (event,) = named(prof, "aten::add")
    assert event.input_shapes == [[2], [2], []] and event.concrete_inputs == [None, None, 3]


@pytest.mark.parametrize(
    ("call", "name", "flops"),
    [
        (lambda t: t.mm(t.ones(3, 4), t.ones(4, 5)), "aten::mm", 120),
        (lambda t: t.bmm(t.ones(2, 3, 4), t.ones(2, 4, 5)), "aten::bmm", 240),
        (lambda t: t.addmm(t.ones(3, 5), t.ones(3, 4), t.ones(4, 5)), "aten::addmm", 120),
        (lambda t: t.baddbmm(t.ones(2, 3, 5), t.ones(2, 3, 4), t.ones(2, 4, 5)), "aten::baddbmm", 240),
        (lambda t: t.ones(2, 3) * t.ones(3), "aten::mul", 6),
        (lambda t: t.ones(2, 3) + t.ones(3), "aten::add", 6),
    ],
)
def test_flops(torch, profiler, call, name, flops):
    with profiler.profile(with_flops=True) as prof:
        call(torch)
    assert [event.flops for event in named(prof, name)] == [flops]


@pytest.mark.parametrize(
    ("shapes", "options", "flops"),
    [
        (((2, 3, 8, 8), (4, 3, 3, 3)), {}, 15552),
        (((2, 4, 8, 8), (4, 2, 3, 3)), {"groups": 2, "padding": 1, "stride": 2}, 4608),
    ],
)
def test_flops_of_convolutions(torch, profiler, shapes, options, flops):
    x, weight = (torch.ones(*shape) for shape in shapes)
    with profiler.profile(with_flops=True) as prof:
        torch.nn.functional.conv2d(x, weight, **options)
    assert sum(event.flops for event in prof.function_events) == flops
    assert sum(average.flops for average in prof.key_averages()) == prof.total_average().flops == flops


def test_memory(torch, profiler):
    a = torch.ones(1000)
    with profiler.profile(profile_memory=True) as prof:
        with profiler.record_function("kept"):
            b = a.exp()
        with profiler.record_function("dropped"):
            a.exp()
        with profiler.record_function("view"):
            c = a[:10]
        with profiler.record_function("in place"):
            a.mul_(2)
    assert [named(prof, n)[0].cpu_memory_usage for n in ("kept", "dropped", "view", "in place")] == [4000, 0, 0, 0]
    assert named(prof, "aten::exp")[0].self_cpu_memory_usage == 4000
    assert b.shape == (1000,) and c.shape == (10,)


def test_stacks_are_asked_for(torch, profiler, tmp_path):
    with profiler.profile() as prof:
        torch.ones(3).exp()
    with pytest.raises(AssertionError, match="with_stack=True"):
        prof.export_stacks(str(tmp_path / "stacks"))
    with profiler.profile(with_stack=True) as prof:
        torch.ones(3).exp()
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(tmp_path / "stacks"), "anything")
    prof.export_stacks(str(tmp_path / "stacks"))


def test_flows_in_the_trace(torch, profiler, leaf, tmp_path):
    path = str(tmp_path / "trace.json")
    with profiler.profile(record_shapes=True) as prof:
        with profiler.record_function("step"):
            (leaf(3) * 2).exp().sum().backward()
    prof.export_chrome_trace(path)
    with open(path) as file:
        trace = json.load(file)
    rows = trace["traceEvents"]
    spans = [row for row in rows if row["ph"] == "X" and row["cat"] in ("cpu_op", "user_annotation")]
    kinds = {row["name"]: row for row in reversed(spans)}
    assert kinds["aten::mul"]["cat"] == "cpu_op" and kinds["step"]["cat"] == "user_annotation"
    assert all(row["dur"] >= 0 for row in spans)
    assert kinds["aten::mul"]["args"]["Input Dims"] == [[3], []]
    starts = {row["id"]: row for row in rows if row["ph"] == "s" and row["cat"] == "fwdbwd"}
    ends = {row["id"]: row for row in rows if row["ph"] == "f" and row["cat"] == "fwdbwd"}
    assert len(starts) == 3 and set(starts) == set(ends)
    pairs = set()
    for number, start in starts.items():
        end = ends[number]
        assert end["bp"] == "e" and start["ts"] < end["ts"]
        at = {row["name"] for row in spans if abs(row["ts"] - start["ts"]) < 1e-2}
        to = {row["name"] for row in spans if abs(row["ts"] - end["ts"]) < 1e-2}
        pairs.add((next(n for n in at if n.startswith("aten")), next(n for n in to if n.endswith("Backward0"))))
    assert {(a, b.removeprefix(EVALUATE)) for a, b in pairs} == {
        ("aten::mul", "MulBackward0"),
        ("aten::exp", "ExpBackward0"),
        ("aten::sum", "SumBackward0"),
    }


def test_functions_of_the_user(torch, profiler, make_function, leaf):
    kind = make_function(name="Mine")
    with profiler.profile() as prof:
        kind.apply(leaf(3)).sum().backward()
    (forward,), (backward,) = named(prof, "Mine"), named(prof, "MineBackward")
    assert "aten::mul" in [child.name for child in forward.cpu_children] and not forward.is_user_annotation
    assert "aten::mul" in [child.name for child in backward.cpu_children]
    assert forward.sequence_nr == backward.sequence_nr >= 0 and backward.scope == 1


def test_double_backward(torch, profiler, leaf):
    x = leaf(3)
    with profiler.profile() as prof:
        (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
        g.sum().backward()
    (first, *_) = named(prof, "MulBackward0")
    inside = [child.name for child in first.cpu_children]
    assert inside.count("aten::mul") == 2
    again = {e.sequence_nr for e in named(prof, "MulBackward0")} & {e.sequence_nr for e in first.cpu_children}
    assert again, "operations of the first backward pass have no numbers of nodes of the second"


def test_optimisers_have_blocks(torch, profiler):
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    weight.sum().backward()
    with profiler.profile() as prof:
        optimizer.step()
        optimizer.zero_grad()
    assert [n for n in names(prof) if "#" in n] == ["Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"]


def test_in_place_and_out(torch, profiler):
    x, out = torch.ones(3), torch.empty(3)
    with profiler.profile() as prof:
        x.add_(1)
        torch.exp(x, out=out)
        x[1:] = 3
        x.zero_()
    assert {"aten::add_", "aten::exp"} <= set(top(prof))
    assert x.tolist() == [0, 0, 0] and out.tolist() == torch.full((3,), 2.0).exp().tolist()


def test_entering_twice(torch, profiler):
    prof = profiler.profile()
    with prof:
        pass
    with pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()


def test_switched_off(torch, profiler):
    with profiler.profile(enabled=False) as prof:
        torch.ones(3).exp()
    assert prof is None


def test_nothing_recorded(torch, profiler):
    with profiler.profile() as prof:
        pass
    assert prof.table() == "" == str(prof) and len(prof.key_averages()) == 0
    assert prof.self_cpu_time_total == 0 and prof.total_average().count == 0


def test_before_it_ran(torch, profiler):
    assert str(profiler.profile()) == repr(profiler.profile()) == "<unfinished torch.autograd.profile>"


def test_arguments(torch, profiler):
    with pytest.raises(AssertionError, match="use_kineto=True"):
        profiler.profile(use_cpu=False)
    with pytest.raises(AssertionError, match="No activities specified"):
        profiler.profile(use_cpu=False, use_kineto=True)
    with pytest.warns(UserWarning, match="The toaster is not a valid device option"):
        assert profiler.profile(use_device="toaster").use_device is None
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert profiler.profile(use_device="cuda").use_device is None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        profiler.profile(use_cuda=True)
    assert [w.category for w in caught] == [FutureWarning, UserWarning] and "use_cuda" in str(caught[0].message)
    with pytest.raises(ValueError, match="must be non-negative"):
        profiler.profile(post_processing_timeout_s=-1)
    assert profiler.profile(with_flops=True).record_shapes


def test_other_threads_are_not_seen(torch, profiler):
    with profiler.profile() as prof:
        thread = threading.Thread(target=lambda: torch.ones(3).sin())
        thread.start()
        thread.join()
        torch.ones(3).exp()
    assert "aten::sin" not in names(prof) and "aten::exp" in names(prof)


def test_load_nvprof(torch, profiler, tmp_path):
    import sqlite3

    path = str(tmp_path / "trace.prof")
    with sqlite3.connect(path) as base:
        base.executescript("""
            CREATE TABLE StringTable (_id_ INTEGER, value TEXT);
            INSERT INTO StringTable VALUES (1, 'mul, seq = 3'), (2, 'MulBackward0, stashed seq = 3'), (3, 'kernel');
            CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER (id INTEGER, name INTEGER, timestamp INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (8, 2, 50), (8, 0, 90), (7, 1, 10), (7, 0, 40);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME
                (_id_ INTEGER, cbid INTEGER, start INTEGER, end INTEGER, correlationId INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 211, 12, 14, 5);
            CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                (correlationId INTEGER, name INTEGER, start INTEGER, end INTEGER);
            INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (5, 3, 20, 27);
        """)
    base.close()
    events = profiler.load_nvprof(path)
    assert [(e.name, e.time_range.start, e.time_range.end) for e in events] == [
        ("mul, seq = 3", 10, 40),
        ("MulBackward0, stashed seq = 3", 50, 90),
    ]
    assert [kernel.duration for kernel in events[0].kernels] == [7] and not events[1].kernels
    unique = profiler.EnforceUnique()
    unique.see(1, 2)
    with pytest.raises(RuntimeError, match="duplicate key"):
        unique.see(1, 2)


@pytest.mark.parametrize(
    "call",
    "zeros(3) ones(3) empty(3) full((3,),2.0) arange(3) linspace(0,1,3) eye(3) zeros_like(X) ones_like(X) rand(3) "
    "randn(3) randint(0,3,(3,)) randperm(3) rand_like(X) randn_like(X) normal(X,X) bernoulli(X) hann_window(4) "
    "complex(X,X) polar(X,X) tril_indices(2,2) cartesian_prod(X,X) equal(X,X) allclose(X,X) vander(X) "
    "scalar_tensor(1.0) empty_strided((3,),(1,)) broadcast_tensors(X,X) atleast_2d(X) is_nonzero(X[0])".split(),
)
def test_functions_that_make_tensors_have_events(torch, profiler, call):
    scope = {"torch": torch, "X": torch.full((3,), 0.5)}
    with profiler.profile() as prof:
        eval(f"torch.{call}", scope)
    top = [event.name for event in prof.function_events if event.cpu_parent is None]
    assert top[-1] == "aten::" + call.partition("(")[0]


@pytest.mark.parametrize(
    "name", "new_zeros new_ones new_empty normal_ uniform_ random_ bernoulli_ exponential_".split()
)
def test_methods_that_make_or_fill_tensors_have_events(torch, profiler, name):
    x = torch.ones(3)
    with profiler.profile() as prof:
        getattr(x, name)(*([3] if name.startswith("new") else []))
    top = [event.name for event in prof.function_events if event.cpu_parent is None]
    assert top == [f"aten::{name}"]


def test_data_that_becomes_a_tensor_has_an_event(torch, profiler):
    with profiler.profile() as prof:
        torch.tensor([1.0])
        torch.as_tensor([1.0])
    assert [event.name for event in prof.function_events].count("aten::lift_fresh") == 2


def test_whether_a_profiler_is_on(torch, profiler):
    assert not torch.autograd._profiler_enabled() and not profiler._is_profiler_enabled
    with profiler.profile():
        assert torch.autograd._profiler_enabled() and profiler._is_profiler_enabled
    assert not torch.autograd._profiler_enabled() and not profiler._is_profiler_enabled


def test_names_of_blocks_are_texts(torch, profiler):
    with pytest.raises(RuntimeError), profiler.record_function(3):
        pass
