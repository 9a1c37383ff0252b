"""Tensors that are computed later: nothing is computed before it is asked for, and results equal NumPy's."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

da = pytest.importorskip("dask.array")

import gradpack as torch  # noqa: E402
from gradpack.utils.dask import evaluate, from_dask, from_memmap, to_dask  # noqa: E402

nn, F = torch.nn, torch.nn.functional
ROWS, COLUMNS, CHUNK = 400, 6, 100
RNG = np.random.default_rng(0)
DATA = RNG.normal(size=(ROWS, COLUMNS)).astype("f4")
CLASSES = RNG.integers(0, 3, ROWS)
CLASSES[5] = -100


class Source:
    """Data that counts how often it is read."""

    shape, dtype, ndim = DATA.shape, DATA.dtype, 2

    def __init__(self):
        self.reads = 0

    def __getitem__(self, index):
        self.reads += 1
        return DATA[index]


@pytest.fixture
def source():
    return Source()


def lazy(source):
    return from_dask(da.from_array(source, chunks=(CHUNK, COLUMNS), asarray=False, meta=DATA[:0]))


def rows(values):
    return from_dask(da.from_array(values, chunks=(CHUNK, *values.shape[1:])))


def mlp(activation=nn.ReLU, *more):
    return nn.Sequential(nn.Linear(COLUMNS, 8), activation(), nn.Linear(8, 3), *more)


def mean_square(out, y):
    return F.mse_loss(out, y)


def weighted(out, y):
    return F.cross_entropy(out, y, weight=torch.tensor([1.0, 2.0, 3.0], device=out.device))


TARGETS = DATA[:, :3].copy()
CASES = {
    "logistic": (
        lambda: nn.Linear(COLUMNS, 1),
        lambda out, y: F.binary_cross_entropy_with_logits(out.squeeze(1), y),
        (DATA[:, 0] > 0).astype("f4"),
    ),
    **{
        a.__name__: (lambda a=a: mlp(a), mean_square, TARGETS)
        for a in (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.GELU, nn.SiLU, nn.LeakyReLU, nn.Softplus, nn.ELU)
    },
    "softmax": (lambda: mlp(nn.ReLU, nn.Softmax(1)), mean_square, TARGETS),
    "layer norm": (lambda: mlp(nn.ReLU, nn.LayerNorm(3)), mean_square, TARGETS),
    "batch norm": (lambda: mlp(nn.ReLU, nn.BatchNorm1d(3)), mean_square, TARGETS),
    "smooth l1": (mlp, F.smooth_l1_loss, TARGETS),
    "variance": (mlp, lambda out, y: (out - y).var(), TARGETS),
    "largest": (mlp, lambda out, y: (out - y).amax(1).mean(), TARGETS),
    "logsumexp": (mlp, lambda out, y: (out - y).logsumexp(1).mean(), TARGETS),
    "classes": (mlp, F.cross_entropy, CLASSES),
    "classes with weights": (mlp, weighted, CLASSES),
    "smooth classes": (mlp, lambda out, y: F.cross_entropy(out, y, label_smoothing=0.1), CLASSES),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_equal_numpys_and_are_computed_together(source, case):
    make, loss_of, targets = CASES[case]
    torch.manual_seed(0)
    model = make()
    expected = loss_of(model(torch.from_numpy(DATA)), torch.from_numpy(targets))
    expected.backward()
    grads = [p.grad.clone() for p in model.parameters()]
    model.to("dask")
    model.zero_grad()
    if case == "batch norm":  # its buffers have seen the batch
        model[-1].reset_running_stats()
    loss = loss_of(model(lazy(source)), rows(targets))
    loss.backward()
    assert loss.device.type == "dask" and source.reads == 0
    evaluate(model)
    assert source.reads == ROWS // CHUNK  # once for all parameters
    for p, grad in zip(model.parameters(), grads, strict=True):
        assert torch.allclose(p.grad.cpu(), grad, atol=1e-6, rtol=1e-5)
    assert source.reads == ROWS // CHUNK
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)


def test_training(source):
    def train(model, x, y):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(5):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            if x.device.type == "dask":
                evaluate(model, optimizer)
            optimizer.step()
        return [p.detach().cpu() for p in model.parameters()]

    torch.manual_seed(0)
    alone = mlp()
    model = mlp()
    model.load_state_dict(alone.state_dict())
    expected = train(alone, torch.from_numpy(DATA), torch.from_numpy(CLASSES))
    found = train(model.to("dask"), lazy(source), rows(CLASSES))
    assert source.reads == 5 * ROWS // CHUNK
    for a, b in zip(expected, found, strict=True):
        assert torch.allclose(a, b, atol=1e-5)


def test_values_are_not_asked_for_by_accident(source):
    x = lazy(source)
    for call in (lambda: np.asarray(x._data), lambda: bool(x._data.any()), lambda: list(x._data), lambda: x.nonzero()):
        with pytest.raises(NotImplementedError, match=r"evaluate\(tensor\)"):
            call()
    with pytest.raises(NotImplementedError, match=r"no function like numpy\.argsort"):
        x.sort()
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(COLUMNS)
    assert repr(x) == f"tensor(..., device='dask', size=({ROWS}, {COLUMNS}))" and source.reads == 0
    assert x.sum().item() == pytest.approx(DATA.sum(), rel=1e-4) and source.reads == ROWS // CHUNK
    assert torch.equal(x.cpu(), torch.from_numpy(DATA))


def test_a_class_that_there_is_not_gives_nan():
    loss = F.cross_entropy(rows(TARGETS), rows(np.full(ROWS, 7)))
    assert np.isnan(loss.item())


def test_what_is_no_such_tensor():
    for call, said in (
        (lambda: from_dask(np.ones(3)), "a dask.array.Array is needed, not ndarray"),
        (lambda: to_dask(torch.ones(3)), "a tensor on the device 'dask' is needed"),
        (lambda: from_memmap(np.ones(3)), "the result of numpy.memmap"),
        (lambda: evaluate(3), "takes tensors, modules and optimizers, not int"),
    ):
        with pytest.raises(TypeError, match=said):
            call()
    unknown = da.from_array(DATA, chunks=CHUNK)
    with pytest.raises(ValueError, match="chunks of unknown size"):
        from_dask(unknown[unknown[:, 0] > 0])


def test_files(tmp_path):
    np.save(tmp_path / "data.npy", DATA)
    mapped = from_memmap(np.load(tmp_path / "data.npy", mmap_mode="r"), chunks=(CHUNK, COLUMNS))
    assert to_dask(mapped).numblocks == (4, 1) and torch.equal(mapped.cpu(), torch.from_numpy(DATA))
    raw = np.memmap(tmp_path / "raw", "f8", "w+", 8, (3, 4), "F")
    raw[...] = np.arange(12).reshape(3, 4)
    raw.flush()
    assert from_memmap(raw).sum(0).cpu().tolist() == [12.0, 15.0, 18.0, 21.0]
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(tmp_path / "data.zarr", shape=DATA.shape, chunks=(CHUNK, COLUMNS), dtype="f4")
    stored[...] = DATA
    assert from_dask(da.from_zarr(tmp_path / "data.zarr")).sum().item() == mapped.sum().item()


PROGRAM = """
import sys
from pathlib import Path
import dask.array as da, numpy as np
from dask.distributed import Client
import gradpack as torch
from gradpack.utils.dask import evaluate, from_memmap

def most():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) * 1024

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1, memory_limit="400MB", dashboard_address=None) as client:
        x = from_memmap(np.load(sys.argv[1], mmap_mode="r"), chunks=(20_000, 50))
        client.run(__import__, "gradpack.utils.dask")
        y = (x[:, 0] > 0).float()
        before = client.run(most)
        for width in map(int, sys.argv[2:]):
            torch.manual_seed(0)
            layers = [torch.nn.Linear(50, width), torch.nn.Tanh(), torch.nn.Linear(width, 1)]
            model = torch.nn.Sequential(*layers[: 1 if width == 1 else 3]).to("dask")
            optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
            losses = []
            for _ in range(2):
                optimizer.zero_grad()
                loss = torch.nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
                loss.backward()
                evaluate(model, optimizer, loss)
                optimizer.step()
                losses.append(loss.item())
            assert losses[1] < losses[0], losses
        after = client.run(most)
        print(x.nbytes, *[after[k] - before[k] for k in before])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_each_of_two_workers_holds_less_than_a_tenth_of_the_data(tmp_path):
    """What each process takes before is not counted. `GRADPACK_SWEEP=1` takes the smaller model, too."""
    pytest.importorskip("distributed")
    data = np.lib.format.open_memmap(tmp_path / "data.npy", "w+", "f4", (3_000_000, 50))
    for part in np.array_split(data, 30):
        part[...] = np.random.default_rng(0).standard_normal(part.shape, dtype="f4")
    data.flush()
    (tmp_path / "program.py").write_text(PROGRAM)
    widths = ["1", "8"] if os.environ.get("GRADPACK_SWEEP") else ["8"]
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path / "data.npy"), *widths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    nbytes, *more = map(int, done.stdout.split())
    assert nbytes == 600_000_000 and max(more) < nbytes / 10, more
