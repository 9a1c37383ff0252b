"""`hub`, `futures`, streams of the CPU, and the functions of `torch._C._nn`."""

from __future__ import annotations

import threading
from importlib import import_module

import pytest

import gradpack as torch


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    return tmp_path


def repository(folder):
    folder.mkdir(parents=True)
    (folder / "parts_of_it.py").write_text("def double(x):\n    return 2 * x\n")
    (folder / "hubconf.py").write_text(
        "dependencies = ['numpy']\nfrom parts_of_it import double\n"
        "def model(width, bias=True):\n    '''A layer.'''\n    import gradpack\n"
        "    return gradpack.nn.Linear(width, double(width), bias=bias)\ndef _hidden(): pass\n"
    )
    return folder


class TestHub:
    def test_a_folder(self, tmp_path):
        folder = repository(tmp_path / "of_mine")
        layer = torch.hub.load(str(folder), "model", 3, source="local", bias=False)
        assert layer.weight.shape == (6, 3) and layer.bias is None
        with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
            torch.hub.load(str(folder), "other", source="local")
        with pytest.raises(FileNotFoundError, match=r"hubconf\.py"):
            torch.hub.load(str(tmp_path), "model", source="local")
        with pytest.raises(ValueError, match=r'Allowed values: "github" \| "local"'):
            torch.hub.load(str(folder), "model", source="gitlab")
        (folder / "hubconf.py").write_text("dependencies = ['no_such_package']\ndef model(): pass\n")
        with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
            torch.hub.load(str(folder), "model", source="local")

    def test_downloads_of_before(self, home):
        repository(home / "hub" / "me_models_main")
        assert torch.hub.get_dir() == str(home / "hub")
        assert torch.hub.list("me/models") == ["double", "model"] and torch.hub.help("me/models", "model") == "A layer."
        assert torch.hub.load("me/models:main", "model", 2).weight.shape == (4, 2)
        with pytest.raises(RuntimeError, match="nothing is downloaded here"):
            torch.hub.load("me/others", "model")

    def test_state_dicts(self, home):
        folder = home / "hub" / "checkpoints"
        folder.mkdir(parents=True)
        torch.save({"weight": torch.ones(2)}, folder / "net-1a.pth")
        found = torch.hub.load_state_dict_from_url("https://somewhere/net-1a.pth?x=1", progress=False)
        assert found["weight"].tolist() == [1.0, 1.0]
        with pytest.raises(RuntimeError, match=r"put what is at https://somewhere/other\.pth into"):
            torch.hub.load_state_dict_from_url("https://somewhere/other.pth")


class TestFutures:
    def test_results_and_what_follows(self):
        first = torch.futures.Future()
        second = first.then(lambda done: done.wait() + 1)
        seen = []
        second.add_done_callback(lambda done: seen.append(done.value()))
        with pytest.raises(RuntimeError, match="there is no result yet"):
            first.value()
        threading.Timer(0.01, first.set_result, (2,)).start()
        assert second.wait() == 3 and first.done() and seen == [3]
        with pytest.raises(RuntimeError, match="only be marked completed once"):
            first.set_result(3)

    def test_exceptions(self):
        first = torch.futures.Future()
        second = first.then(lambda done: done.value())
        first.set_exception(KeyError("no"))
        for future in (first, second):
            with pytest.raises(KeyError, match="no"):
                future.wait()
        with pytest.raises(AssertionError, match="not an Exception"):
            torch.futures.Future().set_exception(3)

    def test_many(self):
        futures = [torch.futures.Future() for _ in range(3)]
        every = torch.futures.collect_all(futures)
        for i, future in enumerate(futures):
            assert not every.done()
            future.set_result(i)
        assert torch.futures.wait_all(futures) == [0, 1, 2] and torch.futures.collect_all([]).wait() == []


def test_streams_of_the_cpu_have_nothing_to_wait_for():
    stream, event = torch.Stream(), torch.Event()
    with stream:
        event.record(stream)
        stream.wait_event(event)
        stream.wait_stream(torch.Stream("cpu"))
    assert stream.query() and event.query() and isinstance(stream.record_event(), torch.Event)
    assert stream.device == torch.device("cpu") and "device_type=cpu" in repr(event)
    with pytest.raises(RuntimeError, match=r"torch\.cuda\.Stream is that of"):
        torch.Stream("cuda")
    other = torch.cpu.Stream()
    before = torch.cpu.current_stream()
    with torch.cpu.stream(other):
        assert torch.cpu.current_stream() is other
    assert torch.cpu.current_stream() is before and torch.cpu.Event().query()


def test_functions_of_the_compiled_core():
    compiled = import_module("gradpack._C")._nn
    functional, x, y = torch.nn.functional, torch.randn(4, 3), torch.tensor([0, 2, 1, 1])
    assert compiled._parse_to("cpu", torch.float64) == (torch.device("cpu"), torch.float64, False, None)
    assert compiled._parse_to(torch.float16, non_blocking=True) == (None, torch.float16, True, None)
    pairs = [
        (compiled.cross_entropy_loss(x, y, None, 2), functional.cross_entropy(x, y, reduction="sum")),
        (compiled.nll_loss_nd(x, y, None, 0), functional.nll_loss(x, y, reduction="none")),
        (compiled.multi_margin_loss(x, y), functional.multi_margin_loss(x, y)),
        (compiled.l1_loss(x, x + 1, 2), torch.tensor(12.0)),
        (compiled.gelu(x), functional.gelu(x)),
        (compiled.linear(x, x), x @ x.T),
        (compiled.log_sigmoid(x), functional.logsigmoid(x)),
    ]
    image = torch.randn(1, 2, 4, 4)
    pairs += [
        (compiled.upsample_nearest2d(image, [8, 8]), functional.interpolate(image, scale_factor=2)),
        (
            compiled.upsample_bilinear2d(image, [6, 6], True),
            functional.interpolate(image, size=6, mode="bilinear", align_corners=True),
        ),
        (compiled.im2col(image, [2, 2], [1, 1], [0, 0], [2, 2]), functional.unfold(image, 2, stride=2)),
        (compiled.adaptive_max_pool2d(image, [2, 2])[0], functional.adaptive_max_pool2d(image, 2)),
    ]
    columns = functional.unfold(image, 2, stride=2)
    pairs.append((compiled.col2im(columns, [4, 4], [2, 2], [1, 1], [0, 0], [2, 2]), image))
    for found, expected in pairs:
        torch.testing.assert_close(found, expected)
    flat = compiled.flatten_dense_tensors([x, y.float()])
    assert [t.shape for t in compiled.unflatten_dense_tensors(flat, [x, y])] == [(4, 3), (4,)]
    found = import_module("gradpack._VF").unique_dim(torch.tensor([[1, 2], [1, 2]]), 0)
    assert found[0].tolist() == [[1, 2]] and found[2].tolist() == [2]
