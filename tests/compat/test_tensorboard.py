"""Event files, where the package `tensorboard` is installed; without it there is no `torch.utils.tensorboard`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest

import gradpack


@pytest.mark.skipif(find_spec("tensorboard") is not None, reason="tensorboard is installed")
def test_without_the_package_it_is_not_there():
    with gradpack.install_as_torch(force=True):
        with pytest.raises(ModuleNotFoundError, match="pip install tensorboard"):
            import_module("torch.utils.tensorboard")


def test_numbers_are_read_again(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with gradpack.install_as_torch(force=True):
        writer = import_module("torch.utils.tensorboard").SummaryWriter(tmp_path)
    with writer:
        for step in range(3):
            writer.add_scalar("loss", gradpack.tensor(2.0**-step), step)
        writer.add_histogram("weights", gradpack.linspace(-1, 1, 50), 0)
        writer.add_text("words", "hello")
        with pytest.raises(RuntimeError, match=r"SummaryWriter\.add_graph"):
            writer.add_graph(None)
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [(e.step, e.value) for e in found.Scalars("loss")] == [(0, 1.0), (1, 0.5), (2, 0.25)]
    histogram = found.Histograms("weights")[0].histogram_value
    assert histogram.num == 50 and sum(histogram.bucket) == 50 and histogram.max == 1.0
