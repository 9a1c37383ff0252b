"""What `record()` lists, without unpacking, and when it says that it was let go of."""

import asyncio
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import gradpack as torch
from gradpack import saved
from gradpack.base.modes import MODE
from gradpack.saved import meter, record
from gradpack.utils.checkpoint import checkpoint

hooks = torch.autograd.graph.saved_tensors_hooks


def ones(*shape, **kwargs):
    return torch.ones(*shape, requires_grad=True, **kwargs)


def facts(r, *names):
    return [tuple(getattr(row, name) for name in names) for row in r.rows]


def test_lists_op_slot_kind_shape_dtype_strides_bytes():
    x, w = ones(3, 4), torch.nn.Parameter(torch.ones(5, 4))
    with record() as r:
        y = (x @ w.t()).exp()
        z = y.max(dim=1).values.sum()
    found = {(row.op, row.slot): row for row in r.rows}
    exp = found["exp", "out"]
    assert (exp.kind, exp.shape, exp.dtype, exp.strides, exp.bytes) == ("output", (3, 5), "float32", (5, 1), 60)
    assert found["matmul", "input"].kind == "input"
    weight = found["matmul", "other"]
    assert (weight.kind, weight.strides, weight.charged, weight.storage_bytes) == ("parameter", (1, 4), 0, 80)
    assert any(row.kind == "index" for row in r.rows)
    assert r.totals.parameter_bytes == 80
    assert r.now == sum(row.charged for row in r.rows) > 0
    z.backward()
    assert r.now == 0


def test_the_users_file_and_line_and_the_path_of_the_module():
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x.exp()  # here

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ModuleList([Inner()])

        def forward(self, x):
            return self.parts[0](x).sin()

    with record() as r:
        y = Outer()(ones(2)).cos()
    assert facts(r, "op", "module") == [("exp", "parts.0"), ("sin", ""), ("cos", "")]
    first = Inner.forward.__code__.co_firstlineno
    assert facts(r, "file", "line")[0] == (__file__, first + 1)
    with torch.autograd.profiler.profile(), record() as under_profiler:
        Outer()(ones(2))
    assert facts(under_profiler, "file", "line")[0] == (__file__, first + 1)
    assert r.rows[0].function.endswith("Inner.forward")
    del y


def test_one_memory_counts_once_and_says_who_shares_it():
    x = ones(10)
    with record() as r:
        h = x.exp()
        y = h.sin() * h.cos()
        v = h[2:4] ** 2
        del h
        assert r.now == 40 * 3
    owners = [row for row in r.rows if row.charged]
    assert [(row.op, row.slot) for row in owners] == [("exp", "out"), ("mul", "other"), ("mul", "input")]
    shared = next(row for row in r.rows if (row.op, row.slot) == ("exp", "out"))
    same = [row.id for row in r.rows if row.storage == shared.storage and row is not shared]
    assert shared.shares == same and len(same) == 3
    view = r.rows[-1]
    assert (view.bytes, view.storage_bytes, view.charged) == (8, 40, 0)
    del y, v, owners
    assert r.now == 0


def test_the_curve_falls_as_backward_frees_though_the_graph_and_the_values_live_on():
    x = ones(100)
    with record() as r:
        a = x.exp()
        b = a.exp()
        loss = b.sum()
        loss.backward()
        assert loss.grad_fn is not None and a is not None
    sizes = [size for _, size in r.curve]
    assert sizes == [400, 800, 400, 0]
    assert r.peak == 800 and r.rows[0].released_at > r.rows[1].released_at >= r.peak_at
    times = [at for at, _ in r.curve]
    assert times == sorted(times)


def test_retain_graph_lets_go_of_nothing():
    x = ones(10)
    with record() as r:
        loss = x.exp().sum()
        loss.backward(retain_graph=True)
        assert r.now == 40
        loss.backward()
        assert r.now == 0


def test_a_graph_that_is_dropped_is_let_go_of_and_so_after_the_block():
    with record() as r:
        y = ones(10).exp()
    assert r.now == 40
    del y
    assert r.now == 0 and r.rows[0].released_at is not None


def test_phases():
    x = ones(3)
    with record() as r:
        for _ in range(2):
            (grad,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
            grad.sum().backward()
    names = [span["name"] for span in r.document()["spans"]]
    assert names == ["forward", "backward", "backward"] * 2
    assert {row.phase for row in r.rows} == {"forward", "backward"}
    for span in r.document()["spans"]:
        assert span["start"] <= span["end"]


def test_nothing_is_unpacked_and_times_of_hooks_are_kept():
    calls = []

    def unpack(packed):
        calls.append(packed)
        return packed

    x = ones(4)
    with record() as r, hooks(lambda t: t.clone(), unpack):
        y = x.exp().sum()
    r.document(), r.json(), r.trace(), r.html(), repr(r), r.table()
    assert not calls
    row = r.rows[0]
    assert row.pack_ms > 0 and row.unpack_ms is None and row.unpacks == 0
    assert "lambda" in row.policy and row.packed_bytes == 16
    y.backward()
    row = r.rows[0]
    assert len(calls) == row.unpacks == 1 and row.unpack_ms > 0
    assert r.totals.unpacks == 1


def test_what_hooks_keep_counts_instead():
    x = ones(100)
    with record() as r, hooks(lambda t: t.half(), lambda p: p.float()):
        y = x.exp().sin()
    assert r.now == 2 * 200
    assert r.totals.saved_bytes == 800 and r.totals.packed_bytes == 400
    with record() as r, hooks(lambda t: t, lambda p: p):
        y = x.exp().sin()
    assert r.now == 400
    with record() as r, hooks(lambda t: "gone", lambda p: torch.ones(100)):
        y = x.exp()
    assert r.now == 0 and r.rows[0].packed_bytes is None
    scaled = hooks(lambda t: {"codes": t.numpy().astype("int8"), "scale": np.float32(2)}, lambda p: torch.ones(100))
    with record() as r, meter(), scaled:
        y = x.exp()
    assert r.now == r.rows[0].packed_bytes == 100
    del y


def test_policies_say_their_bytes_and_tier():
    class Elsewhere(saved.Policy):
        name = "elsewhere"

        def pack(self, tensor, info=None):
            info.packed_bytes, info.policy, info.tier = 7, "elsewhere", "disk"
            return tensor.numpy().tobytes()

    x = ones(100)
    with record() as r, Elsewhere():
        y = x.exp()
    row = r.rows[0]
    assert (row.policy, row.tier, row.packed_bytes, row.charged) == ("elsewhere", "disk", 7, 7)
    assert r.now == r.peak == 0, "what is on disk is not in memory"
    assert r.document()["curve"]["bands"][0]["tier"] == "disk"
    del y


def test_the_identity_pack_of_a_result_leaks_nothing():
    x = ones(10)
    with record() as r, hooks(lambda t: t, lambda p: p):
        y = x.exp()
        kept = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert kept() is None and r.now == 0
    finally:
        gc.enable()


def test_recording_saves_the_same_and_gives_the_same_gradients():
    def run():
        torch.manual_seed(0)
        model = torch.nn.Sequential(
            torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)
        )
        packed = []
        with hooks(lambda t: (packed.append(tuple(t.shape)), t)[1], lambda p: p):
            loss = torch.nn.functional.cross_entropy(model(torch.ones(3, 4)), torch.tensor([0, 1, 0]))
        loss.backward()
        return packed, [p.grad.tolist() for p in model.parameters()]

    plain = run()
    with record() as r:
        recorded = run()
    assert recorded == plain
    assert r.totals.saves == len(plain[0])


def test_keeps_no_tensor_alive():
    x = ones(10)
    r = record()
    with r:
        y = x.exp()
        array = weakref.ref(y._data)
    gc.disable()
    try:
        del y
        assert array() is None
        log = weakref.ref(r._log)
        with r:
            z = x.exp()
        del r
        assert log() is None, "a recording dies with its last user, though what it recorded lives"
        z.sum().backward()
    finally:
        gc.enable()


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoint(reentrant):
    x = ones(1000)
    with record() as r:
        y = checkpoint(lambda t: t.exp().sin().exp(), x, use_reentrant=reentrant)
        assert r.now <= 4000
        y.sum().backward()
        assert r.now == 0
    assert r.totals.saves >= 3


def test_custom_function():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * (ctx.saved_tensors[1] / ctx.saved_tensors[0])

    x = ones(10)
    with record() as r:
        y = Twice.apply(x)
    assert [(op, slot) for op, slot in facts(r, "op", "slot")] == [
        ("Twice", "saved_tensors[0]"),
        ("Twice", "saved_tensors[1]"),
    ]
    assert r.now == 80
    y.sum().backward()
    assert r.now == 0


def test_recorders_nest():
    x = ones(10)
    with record("outer") as outer:
        with meter() as m, record("inner") as inner:
            y = x.exp().sum()
        z = x.sin()
    assert (outer.totals.saves, inner.totals.saves, m.peak) == (2, 1, 40)
    y.backward()
    assert (outer.now, inner.now) == (40, 0)
    del z


def test_the_same_recording_goes_on():
    x = ones(10)
    r = record()
    for n in range(1, 3):
        with r:
            with r:
                x.exp().sum().backward()
        assert r.totals.saves == n
    assert MODE.get().recorder is None


def test_an_error_in_the_block_closes_it():
    def fails():
        y = ones(10).exp()
        raise ZeroDivisionError(y)

    with pytest.raises(ZeroDivisionError) as caught, record() as r:
        fails()
    assert r.now == 40
    ones(3).exp()
    assert r.totals.saves == 1
    del caught


def test_other_threads_and_tasks_are_not_recorded_unless_asked():
    x = ones(10)

    async def task(title):
        with record(title) as r:
            y = x.exp()
            await asyncio.sleep(0)
            z = y.sin()
        del z
        return r.totals.saves

    async def both():
        return await asyncio.gather(task("a"), task("b"))

    assert asyncio.run(both()) == [2, 2]
    with record() as r:
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
        assert r.totals.saves == 0
        thread = threading.Thread(target=saved.propagate(lambda: x.exp()))
        thread.start()
        thread.join()
    assert r.totals.saves == 1


def test_backward_in_many_threads_at_once():
    x = ones(100)
    with record() as r:
        losses = [x.exp().sin().exp().sum() for _ in range(8)]
    threads = [threading.Thread(target=loss.backward) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert r.now == 0 and r.peak == 8 * 2 * 400
    times = [at for at, _ in r.curve]
    assert times == sorted(times)


def test_beyond_the_limit_the_peak_is_listed_and_all_is_counted():
    x = ones(10)
    with record(limit=5) as r:
        for n in range(400):
            y = x.exp().sum()
            if n == 200:
                big = ones(1000).exp().sum()
                del big
            y.backward()
    assert r.totals.saves == 401
    document = r.document()
    assert len(document["rows"]) < 150 and document["forgotten"] == 401 - len(document["rows"])
    assert r.peak == 4040 and sum(row.charged for row in r.rows if row.held_at(r.peak_at)) == 4040
    with pytest.raises(ValueError, match="limit"):
        record(limit=0)


def test_in_place_writes_and_mutation_mode():
    x = ones(10)
    with record() as r, torch.autograd.graph.allow_mutation_on_saved_tensors():
        h = x * 1
        y = h.sin().sum()
        h.mul_(2)
        y.backward()
    assert r.now == 0 and r.peak >= 40
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.ones(10)), rtol=1e-6)


def test_what_it_would_take_to_make_it_again():
    x = ones(1000)
    drawn = torch.nn.functional.dropout(x, 0.5)
    with record() as r:
        a = x.exp()  # from x, which nothing holds
        b = a.sin()  # its input is what exp keeps
        c = b.cos()  # saves b, which is made from a
        d = torch.nn.functional.dropout(c, 0.5).exp().sin()  # the first is random
    first, made = (next(row for row in r.rows if row.op == op) for op in ("exp", "cos"))
    assert first.recompute_ms is None
    assert made.recompute_ms > 0 and made.needs == [first.storage]
    assert [row.recompute_ms for row in r.rows if row.op == "exp"] == [None, None]
    all_of_it = next(w for w in r.document()["what_if"] if w["policy"] == "recompute")
    assert all_of_it["rows"] == 1 and all_of_it["saved"] == 4000
    del d, drawn


def test_a_write_ends_what_is_known_of_the_contents():
    x, w = ones(10), torch.nn.Parameter(torch.ones(10))
    with record() as r:
        a = w * 2
        b = a.exp()
        c = x * 3
        c.mul_(5)
        d = c.sin()
    found = {row.op: row.recompute_ms for row in r.rows if row.op in ("exp", "sin")}
    assert found["exp"] is not None, "from the parameter, which is there"
    assert found["sin"] is None
    del b, d


def test_a_backward_pass_is_one_phase_from_its_begin_to_its_end():
    class Slow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            time.sleep(0.02)
            return g

    x = ones(10)
    with record() as r:
        y = Slow.apply(checkpoint(lambda t: t.exp().sin(), Slow.apply(x.exp()), use_reentrant=True)).sum()
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()
    spans = r.document()["spans"]
    assert [span["name"] for span in spans] == ["forward", "backward", "backward"]
    assert spans[1]["end"] - spans[1]["start"] >= 0.04, "both sleeps are in it: that before anything is freed as well"
    assert spans[0]["end"] <= spans[1]["start"] and spans[1]["end"] <= spans[2]["start"]


def test_policies_that_round():
    x = torch.randn(4, 1024, requires_grad=True)
    with record() as r, saved.bf16():
        h = x.exp()
        y = h.sin().sum() + h[2:].cos().sum()
    sizes = {row.packed_bytes for row in r.rows}
    assert sizes == {8192} and r.now == 8192, "views of one memory share what was packed of it"
    assert {row.policy for row in r.rows} == {"bf16()"} and [row.charged for row in r.rows] == [8192, 0, 0]
    assert r.rows[0].shares == [1, 2]
    y.backward()
    assert r.now == 0 and r.totals.unpack_ms > 0
    assert {row.tier for row in r.rows} == {"memory"}


def test_a_policy_that_moves_to_disk():
    x = torch.randn(64, 1024, requires_grad=True)
    with record() as r, saved.disk() as policy:
        y = x.exp().sin()
        policy.wait()
        assert r.now == 0 and r.peak > 0
        assert r.tiers == {"memory": 0, "disk": 64 * 4096}
    assert [(row.tier, row.packed_bytes, row.charged) for row in r.rows if row.charged] == [("disk", 262144, 262144)]
    y.sum().backward()
    assert r.tiers == {"memory": 0, "disk": 0}
    assert all(row.until is not None for row in r.rows if row.charged)


def test_policies_one_after_the_other_and_chosen():
    x = torch.randn(64, 1024, requires_grad=True)
    policy = (saved.quantize(8) >> saved.disk()).where(op="sin")
    with record() as r, policy:
        y = x.exp().sin()
        policy.wait()
    exp, sin = r.rows
    assert exp.charged == exp.storage_bytes and (exp.policy, exp.packed_bytes, exp.tier) == ("", None, "memory")
    y.sum().backward()
    assert sin.tier == "disk" and 0 < sin.packed_bytes < 70_000
    assert r.tiers == {"memory": 0, "disk": 0}
