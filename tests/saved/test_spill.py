import errno
import gc
import os

import pytest

import gradpack as torch
from gradpack.saved import Disk
from gradpack.saved.hook_pairs import Extent

hooks = torch.autograd.graph.saved_tensors_hooks


def disk(**options):
    return Disk(**{"at_least": 1, "step": 4096, **options})


DTYPES = "bool uint8 int64 float16 bfloat16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("dtype", [getattr(torch, name) for name in DTYPES.split()])
def test_every_dtype_comes_back_exactly(dtype):
    with disk() as d:
        x = torch.arange(20).reshape(4, 5).to(dtype)
        back = d.unpack(d.pack(x))
        assert back.dtype is dtype
        assert torch.equal(back, x)


def test_views_come_back_with_their_shape_and_order_of_strides():
    with disk() as d:
        base = torch.randn(4, 6, 5)
        for view in (base.transpose(0, 2), base[1:3, ::2], base.permute(1, 2, 0)[2], base[0, 0, 0], base[:1]):
            back = d.unpack(d.pack(view))
            assert torch.equal(back, view)
        assert d.unpack(d.pack(base.permute(2, 0, 1))).stride() == base.permute(2, 0, 1).stride()


def test_an_expanded_tensor_takes_only_its_distinct_elements():
    with disk() as d:
        x = torch.randn(3, 1).expand(3, 1000)
        packed = d.pack(x)
        assert d.in_use == 12
        assert torch.equal(d.unpack(packed), x)


def test_small_tensors_empty_tensors_and_parameters_stay_in_memory():
    weight = torch.randn(100, 100)
    with Disk(parameters=[weight]) as d:
        for x in (torch.ones(1023), torch.ones(0), weight, weight.t()):
            assert d.pack(x) is x
            assert d.unpack(x) is x
        assert isinstance(d.pack(torch.ones(1024)), Extent)


def test_places_of_the_dead_are_used_again():
    with disk() as d:
        a, b, c = (d.pack(torch.full((256,), float(i))) for i in range(3))
        assert (a.start, b.start, c.start) == (0, 1024, 2048)
        assert (d.in_use, d.peak) == (3072, 3072)
        del b
        assert d.in_use == 2048
        small = d.pack(torch.ones(64))
        assert small.start == 1024
        large = d.pack(torch.ones(256))  # the gap is too small by now
        assert large.start == 3072
        assert d.unpack(a)[0] == 0
        assert d.unpack(c)[0] == 2


def test_free_neighbours_become_one_gap():
    with disk() as d:
        extents = [d.pack(torch.full((256,), float(i))) for i in range(6)]
        last = extents[5]
        for i in (1, 3, 2):  # 2 joins both sides
            extents[i] = None
        assert d.pack(torch.ones(768)).start == 1024
        assert d.unpack(last)[0] == 5


def test_the_file_grows_in_steps_and_stays_as_it_is_over_many_rounds():
    with disk(step=10_000) as d:
        assert d.size == 0
        for _ in range(50):
            kept = [d.pack(torch.ones(n)) for n in (100, 2000, 300, 400)]
            assert d.size == 20_000
            del kept
        assert d.in_use == 0
        assert d.peak == 11_200


def test_random_lives_never_overlap():
    torch.manual_seed(0)
    with disk() as d:
        alive = {}
        for i in range(400):
            size = int(torch.randint(1, 500, ()).item())
            x = torch.randn(size)
            alive[i] = (x, d.pack(x))
            for key in [k for k in alive if (k * 7 + i) % 5 == 0]:
                del alive[key]
            assert d.in_use == sum(x.nbytes for x, _ in alive.values())
        assert alive
        for x, packed in alive.values():
            assert torch.equal(d.unpack(packed), x)


def test_the_same_tensor_is_written_once():
    with disk() as d:
        x = torch.randn(50)
        first, second = d.pack(x), d.pack(x.detach())
        assert first is second
        assert d.in_use == 200
        x.add_(1)
        third = d.pack(x)
        assert third is not first
        assert torch.equal(d.unpack(third) - 1, d.unpack(first)) or d.in_use == 400


def test_gradients_are_exact_and_the_file_is_empty_after_backward():
    torch.manual_seed(0)
    w = torch.randn(30, 30, requires_grad=True)
    x = torch.randn(20, 30)
    ((x @ w).tanh() @ w).exp().sum().backward()
    expected, w.grad = w.grad, None
    with disk() as d:
        with hooks(*d):
            y = ((x @ w).tanh() @ w).exp().sum()
        assert d.in_use > 0
        y.backward(retain_graph=True)
        assert torch.equal(w.grad, expected)
        assert d.in_use > 0
        y.backward()
        assert d.in_use == 0


def test_a_graph_that_never_runs_backward_gives_its_places_back():
    gc.disable()
    try:
        with disk() as d:
            x = torch.randn(100, requires_grad=True)
            with hooks(*d):
                y = x.exp().sin()
            assert d.in_use > 0
            del y
            assert d.in_use == 0
    finally:
        gc.enable()


def test_no_name_is_left_in_the_folder(tmp_path):
    with disk(directory=tmp_path) as d:
        packed = d.pack(torch.ones(10_000))
        assert list(tmp_path.iterdir()) == []
        assert d.unpack(packed).sum() == 10_000


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_the_file_is_closed_with_the_last_that_needs_it():
    before = open_files()
    d = disk()
    packed = d.pack(torch.ones(10))
    assert open_files() == before + 1
    del d
    assert open_files() == before + 1
    assert packed.read().sum() == 10
    del packed
    assert open_files() == before
    with disk():
        assert open_files() == before + 1
    assert open_files() == before


def test_after_close_pack_and_unpack_say_so():
    d = disk()
    packed = d.pack(torch.ones(10))
    d.close()
    d.close()
    with pytest.raises(OSError, match="closed before backward"):
        d.unpack(packed)
    with pytest.raises(OSError, match="this Disk is closed"):
        d.pack(torch.ones(10))


def test_a_missing_folder_is_an_error_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Disk(directory=tmp_path / "nowhere")


def test_nonsense_sizes_are_refused():
    with pytest.raises(ValueError, match="at_least and step"):
        Disk(step=0)
    with pytest.raises(ValueError, match="at_least and step"):
        Disk(at_least=0)


def fail_with(code):
    def fail(*args):
        raise OSError(code, os.strerror(code))

    return fail


def test_a_full_disk_names_folder_and_need_and_leaves_all_as_it_was(tmp_path, monkeypatch):
    with disk(directory=tmp_path) as d:
        kept = d.pack(torch.arange(1024.0))
        monkeypatch.setattr(os, "posix_fallocate", fail_with(errno.ENOSPC), raising=False)
        with pytest.raises(OSError, match=rf"8000 bytes on disk \(No space left.*{tmp_path}") as caught:
            d.pack(torch.ones(2000))
        assert caught.value.errno == errno.ENOSPC
        assert d.in_use == 4096
        monkeypatch.undo()
        more = d.pack(torch.ones(2000))
        assert torch.equal(d.unpack(kept), torch.arange(1024.0))
        assert d.unpack(more).sum() == 2000


def test_a_write_that_fails_frees_its_place(tmp_path, monkeypatch):
    with disk(directory=tmp_path) as d:
        monkeypatch.setattr(os, "pwrite", fail_with(errno.EIO))
        with pytest.raises(OSError, match=r"cannot write a saved tensor of 400 bytes on disk \(Input/output"):
            d.pack(torch.ones(100))
        assert d.in_use == 0
        monkeypatch.undo()
        assert d.pack(torch.ones(100)).start == 0


def test_writes_and_reads_that_stop_early_go_on(monkeypatch):
    pwrite, preadv = os.pwrite, os.preadv
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: pwrite(fd, data[:1000], at))
    monkeypatch.setattr(os, "preadv", lambda fd, buffers, at: preadv(fd, [buffers[0][:700]], at))
    with disk() as d:
        x = torch.randn(1500)
        assert torch.equal(d.unpack(d.pack(x)), x)


def test_systems_without_preadv_and_fallocate(monkeypatch):
    monkeypatch.delattr(os, "preadv", raising=False)
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with disk() as d:
        x = torch.randn(1500)
        assert torch.equal(d.unpack(d.pack(x)), x)


def test_file_systems_that_cannot_reserve(monkeypatch):
    monkeypatch.setattr(os, "posix_fallocate", fail_with(errno.EOPNOTSUPP), raising=False)
    with disk() as d:
        x = torch.randn(1500)
        assert torch.equal(d.unpack(d.pack(x)), x)
        assert d.size == 8192


def test_a_file_cut_short_is_an_error_and_not_zeros():
    with disk() as d:
        packed = d.pack(torch.ones(1000))
        os.ftruncate(d._file.fd, 100)
        with pytest.raises(OSError, match=r"of 4000 bytes came back .* with 100 bytes"):
            d.unpack(packed)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_writes_to_a_file_of_its_own(monkeypatch):
    with disk() as d:
        before = d.pack(torch.full((100,), 1.0))
        monkeypatch.setattr(os, "getpid", lambda: -1)  # what a child sees: another number
        child = d.pack(torch.full((100,), 2.0))
        assert child.file is not before.file
        assert d.unpack(before)[0] == 1
        assert d.unpack(child)[0] == 2
