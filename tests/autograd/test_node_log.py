"""The logger `gradpack.autograd.graph` at DEBUG: the nodes of a backward pass in the order in which they run."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import pytest

import gradpack as torch
from gradpack.autograd.backward_pass import is_wanted

LOGGER = "gradpack.autograd.graph"


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, LOGGER)

    def read():
        found = [re.sub(" at 0x[0-9a-f]+", "", r.getMessage()) for r in caplog.records if r.name == LOGGER]
        caplog.clear()
        return found

    return read


def line(node, *grads):
    return f"Executing: <{node} object> with grad_outputs: [{','.join(grads)}]"


@pytest.fixture
def x():
    return torch.ones(2, 2, requires_grad=True)


def test_in_order_with_leaves_as_soon_as_they_are_ready(lines, x):
    w = torch.ones(2, 2, requires_grad=True)
    ((x @ w).relu() + x).sum().backward()
    assert lines() == [
        line("SumBackward0", "f32[]"),
        line("AddBackward0", "f32[2, 2]"),
        line("ReluBackward0", "f32[2, 2]"),
        line("MmBackward0", "f32[2, 2]"),
        line("AccumulateGrad", "f32[2, 2]"),
        line("AccumulateGrad", "f32[2, 2]"),
    ]
    (x.sum() * w.sum()).backward()
    assert [text.split()[1] for text in lines()] == [
        "<MulBackward0", "<SumBackward0", "<AccumulateGrad", "<SumBackward0", "<AccumulateGrad",
    ]  # fmt: skip


def test_only_what_runs(lines, x):
    w = torch.ones(2, 2, requires_grad=True)
    torch.autograd.grad((x @ w).sum(), x)
    assert lines() == [line("SumBackward0", "f32[]"), line("MmBackward0", "f32[2, 2]")]
    (x @ w).sin().sum().backward(inputs=[x])
    assert lines()[-2:] == [line("MmBackward0", "f32[2, 2]"), line("AccumulateGrad", "f32[2, 2]")]


def test_several_results_dtypes_and_missing_gradients(lines, x):
    torch.linalg.svd(x * torch.eye(2))[1].sum().backward()
    assert lines()[1] == line("LinalgSvdBackward0", "None", "f32[2]", "None")
    (x.to(torch.bfloat16) * 2).sum().backward()
    assert lines() == [
        line("SumBackward0", "bf16[]"),
        line("MulBackward0", "bf16[2, 2]"),
        line("ToCopyBackward0", "bf16[2, 2]"),
        line("AccumulateGrad", "f32[2, 2]"),
    ]


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2, y * 2

    @staticmethod
    def backward(ctx, g, h):
        return None, h


def test_a_function_and_a_leaf_without_gradient(lines, x):
    w = torch.ones(2, 2, requires_grad=True)
    Twice.apply(x, w)[0].sum().backward()
    assert lines() == [
        line("SumBackward0", "f32[]"),
        line("gradpack.autograd.function.TwiceBackward", "f32[2, 2]", "None"),
        line("AccumulateGrad", "None"),
        line("AccumulateGrad", "f32[2, 2]"),
    ]


def test_create_graph_checkpoints_and_passes_inside_of_passes(lines, x):
    torch.autograd.grad((x**3).sum(), x, create_graph=True)
    assert lines() == [line("SumBackward0", "f32[]"), line("PowBackward0", "f32[2, 2]")]
    for use_reentrant in (False, True):
        y = torch.utils.checkpoint.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=use_reentrant)
        y.sum().backward()
        names = [re.search("<(.+?) ", text)[1].rpartition(".")[2] for text in lines()]
        inside = ["CheckpointFunctionBackward"] if use_reentrant else []
        outside = ["AccumulateGrad"] if use_reentrant else []
        assert names == ["SumBackward0", *inside, "SinBackward0", "ExpBackward0", "AccumulateGrad", *outside]


def test_rows_of_a_jacobian_each(lines, x):
    torch.autograd.functional.jacobian(lambda x: x.sin(), x)
    assert lines().count(line("SinBackward0", "f32[2, 2]")) == 4


def test_beside_a_profiler(lines, x):
    with torch.autograd.profiler.profile() as prof:
        x.sin().sum().backward()
    assert [text.split()[1] for text in lines()] == ["<SumBackward0", "<SinBackward0", "<AccumulateGrad"]
    assert any("SinBackward0" in event.name for event in prof.function_events)


def test_gradients_are_the_same_and_nothing_is_said_above_debug(caplog, x):
    caplog.set_level(logging.INFO, LOGGER)
    (x * x).sum().backward()
    assert not caplog.records and not is_wanted()
    expected, x.grad = x.grad, None
    caplog.set_level(logging.DEBUG, LOGGER)
    (x * x).sum().backward()
    assert caplog.records and x.grad.tolist() == expected.tolist()


def test_who_does_not_log_does_not_import_logging():
    program = (
        "import sys, gradpack\n"
        "before = 'logging' in sys.modules\n"
        "gradpack.ones(1, requires_grad=True).sum().backward()\n"
        "assert ('logging' in sys.modules) is before\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("name", "abbr"),
    [("float32", "f32"), ("bfloat16", "bf16"), ("complex64", "c64"), ("uint8", "u8"), ("int64", "i64"), ("bool", "b8")],
)
def test_dtypes_in_short(name, abbr):
    assert getattr(torch, name).abbr == abbr
