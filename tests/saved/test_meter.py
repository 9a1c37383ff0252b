import gc
import weakref

import pytest

import gradpack as torch
from gradpack.base.modes import MODE
from gradpack.saved import Disk, bfloat16, meter

hooks = torch.autograd.graph.saved_tensors_hooks


@pytest.fixture(autouse=True)
def no_garbage_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_counts_what_is_kept_and_sees_it_go():
    x = torch.randn(1000, requires_grad=True)
    with meter() as m:
        y = x.exp()
        assert m.now == 4000
        y = y.exp()
        assert m.now == 8000
        y = y.sum()
        assert m.now == 8000
        y.backward()
        assert (m.now, m.peak) == (0, 8000)


def test_counts_a_storage_once_and_whole_under_any_view():
    x = torch.randn(10, 100, requires_grad=True)
    with meter() as m:
        h = x.exp()  # 4000 bytes, saved as a result
        y = h * h + h[:, :50].sin().sum() + h.t().sin().sum()  # and again, itself and two views
        assert m.now == 4000
        del h
        assert m.now == 4000
        del y
        assert m.now == 0


def test_parameters_do_not_count_under_any_view():
    layer = torch.nn.Linear(50, 20)
    x = torch.randn(10, 50)
    with meter(layer.parameters()) as m:
        y = layer(x).sum()
        assert m.now == x.nbytes
        y.backward()
    with meter() as m:
        y = layer(torch.randn(10, 50, requires_grad=True)).sum()
        assert m.now == x.nbytes + layer.weight.nbytes


def test_frozen_inputs_cost_nothing():
    w = torch.randn(50, 20)
    with meter() as m:
        y = torch.randn(10, 50).requires_grad_() @ w
        assert m.now == w.nbytes  # the left side is needed for nobody
        del y


def test_nothing_is_kept_without_grad():
    x = torch.randn(1000, requires_grad=True)
    with meter() as m, torch.no_grad():
        x.exp().exp()
    assert (m.peak, m.curve) == (0, [])


def test_counts_what_hooks_keep_instead():
    x = torch.randn(1000, requires_grad=True)
    with meter() as m, hooks(*bfloat16(at_least=0)):
        y = x.exp().exp().sum()
        assert m.now == 4000
        y.backward()
        assert m.now == 0
    assert m.peak <= 2 * 4000 + 2 * 2000  # while they are computed, originals are there too
    with meter() as m, Disk(at_least=1) as disk, hooks(*disk):
        y = x.exp().exp().sum()
        assert m.now == 0
        assert disk.in_use == 8000
        y.backward()


@pytest.mark.parametrize("nest", [lambda a: (a,), lambda a: [a, 3], lambda a: {"a": ("b", [a])}, lambda a: a.numpy()])
def test_finds_arrays_inside_what_pack_returned(nest):
    x = torch.randn(1000, requires_grad=True)
    with meter() as m, hooks(lambda t: nest(t.detach().clone()), lambda packed: torch.zeros(1000)):
        y = x.exp().sum()
        assert m.now == 4000
        del y
        assert m.now == 0


def test_recomputed_values_count_while_they_live():
    x = torch.randn(1000, requires_grad=True)

    def block(x):
        return x.exp().sin().exp().sin()

    with meter() as m:
        y = x
        for _ in range(6):
            y = torch.utils.checkpoint.checkpoint(block, y, use_reentrant=False)
        y = y.sum()
        assert m.now == 6 * 4000  # the input of each block
        y.backward()
        assert m.now == 4000  # x, which is ours
    assert m.peak == 8 * 4000  # what one block keeps comes on top
    with meter() as plain:
        block(block(block(block(block(block(x)))))).sum().backward()
    assert plain.peak == 12 * 4000


def test_the_curve_is_every_change_in_time():
    x = torch.randn(1000, requires_grad=True)
    with meter() as m:
        x.exp().exp().sum().backward()
    times, sizes = zip(*m.curve, strict=True)
    assert list(times) == sorted(times)
    assert times[0] >= 0
    assert sizes == (4000, 8000, 4000, 0)


def test_what_is_saved_inside_is_tracked_outside():
    x = torch.randn(1000, requires_grad=True)
    with meter() as m:
        y = x.exp().sum()
    z = x.exp().sum()  # not seen
    assert m.now == 4000
    y.backward()
    assert m.now == 0
    z.backward()
    assert m.now == 0


def test_meters_nest_and_the_mode_is_restored():
    x = torch.randn(1000, requires_grad=True)
    with meter() as outer:
        a = x.exp()
        with meter() as inner:
            b = a.exp()
            assert (outer.now, inner.now) == (8000, 4000)
        c = b.exp()
        assert (outer.now, inner.now) == (12000, 4000)
        assert MODE.get().recorder is outer
    assert MODE.get().recorder is None
    with pytest.raises(ZeroDivisionError), meter():
        _ = 1 / 0
    assert MODE.get().recorder is None
    del c


def test_a_meter_is_freed_before_what_it_watched():
    x = torch.randn(1000, requires_grad=True)
    m = meter()
    with m:
        y = x.exp().sum()
    gone = weakref.ref(m)
    del m
    assert gone() is None
    y.backward()
    assert x.grad is not None
