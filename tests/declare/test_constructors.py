"""Public classes that are made with wrong arguments say what they are called, and what they take."""

from __future__ import annotations

import inspect
import re
from abc import ABC

import pytest

import gradpack as torch
from gradpack import nn
from gradpack.utils.data import DataLoader

PARAMS = [torch.zeros(2, requires_grad=True)]


UNKNOWN = [
    ("nn.Conv2d", (3, 4), {"kernel": 3}, "kernel_size"),
    ("nn.Linear", (3, 4), {"biass": False}, "bias"),
    ("nn.TransformerEncoderLayer", (8, 2), {"dropuot": 0.1}, "dropout"),
    ("nn.LSTM", (3, 4), {"num_layer": 2}, "num_layers"),
    ("nn.ReLU", (), {"in_place": True}, "inplace"),
    ("nn.BatchNorm2d", (3,), {"epsilon": 0.1}, "eps"),
    ("optim.SGD", (PARAMS,), {"learning_rate": 0.1}, "lr"),
    ("optim.AdamW", (PARAMS,), {"weightdecay": 0.1}, "weight_decay"),
    ("optim.lr_scheduler.StepLR", (None,), {"step": 1}, "step_size"),
    ("optim.swa_utils.AveragedModel", (), {"modell": 1}, "model"),
    ("utils.data.DataLoader", ([1],), {"batchsize": 2}, "batch_size"),
    ("distributions.Normal", (), {"locc": 0.0}, "loc"),
    ("nn.parallel.DistributedDataParallel", (None,), {"device": 1}, "device_ids"),
    ("amp.GradScaler", (), {"init_scal": 1.0}, "init_scale"),
    ("autocast", (), {"device": "cpu"}, "device_type"),
]


def found(path):
    value = torch
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize(("path", "args", "kwargs", "meant"), UNKNOWN, ids=[u[0] for u in UNKNOWN])
def test_an_unknown_keyword_lists_what_the_class_takes(path, args, kwargs, meant):
    cls = found(path)
    shown = re.escape(f"{cls.__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'. Did you ")
    with pytest.raises(TypeError, match=shown + f"mean '{meant}'") as error:
        cls(*args, **kwargs)
    listed = str(error.value).partition("It takes\n * ")[2]
    assert all(name in listed for name in inspect.signature(cls).parameters)
    assert "<function" not in listed
    assert len(error.traceback) == 2  # of the class itself, no frame of a base


def test_missing_arguments_and_too_many_list_what_the_class_takes():
    with pytest.raises(
        TypeError, match=r"Conv2d.__init__\(\) missing 1 required .*'kernel_size'. It takes\n \* \(in_ch"
    ):
        nn.Conv2d(3, 4)
    with pytest.raises(TypeError, match=r"Linear.__init__\(\) takes from 3 to 6 .* given. It takes\n \* \(in_features"):
        nn.Linear(3, 4, True, None, None, 5)


def test_a_class_of_a_user_is_told_of_the_class_that_it_extends():
    class Net(nn.Linear, ABC):
        def __init__(self, **kwargs):
            super().__init__(3, 4, **kwargs)

    assert Net(bias=False).bias is None
    with pytest.raises(TypeError, match=r"^Linear.__init__\(\) got an unexpected keyword argument 'biass'"):
        Net(biass=False)


def test_errors_from_inside_are_left_alone():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 4, nobias=True)

    with pytest.raises(TypeError, match=r"^Linear.__init__\(\) got .* 'nobias'"):
        Net()
    with pytest.raises(TypeError, match=r"^DataLoader.__init__") as error:
        DataLoader([1], sampler=3, batch_sampler=4, shuffle=1, colate_fn=2)
    assert "collate_fn" in str(error.value)


def test_a_module_takes_no_arguments():
    with pytest.raises(TypeError, match=r"Module.__init__\(\) takes 1 positional argument but 2 were given"):
        nn.Module(3)
    with pytest.raises(TypeError, match=r"Module.__init__\(\) got an unexpected keyword argument 'a'"):
        nn.Module(a=3)


def test_a_step_names_the_optimizer():
    with pytest.raises(
        TypeError, match=r"SGD.step\(\) got an unexpected keyword argument 'closur'. Did you mean 'clos"
    ):
        torch.optim.SGD(PARAMS).step(closur=None)


def test_signatures_and_pickles_are_those_of_the_class():
    assert [*inspect.signature(nn.Linear).parameters] == ["in_features", "out_features", "bias", "device", "dtype"]
    assert nn.Conv2d.__init__.__qualname__ == "Conv2d.__init__"
    assert inspect.unwrap(nn.Conv2d.__init__) is inspect.unwrap(nn.Conv1d.__init__)
