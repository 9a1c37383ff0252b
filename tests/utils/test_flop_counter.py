"""What torch's counter has not, or has otherwise: its table without a library, attention, what a counter is called."""

from __future__ import annotations

import gc
import weakref

import gradpack as torch
from gradpack.nn.modules.module import _global_forward_hooks, _global_forward_pre_hooks
from gradpack.utils.flop_counter import FlopCounterMode

TABLE = """\
Module             FLOP  % Total
--------------  -------  -------
Sequential      540.000  100.00%
 - aten.addmm   180.000   33.33%
 - aten.mm      360.000   66.67%
 Sequential.0   360.000   66.67%
  - aten.addmm  120.000   22.22%
  - aten.mm     240.000   44.44%
 Sequential.2   180.000   33.33%
  - aten.addmm   60.000   11.11%
  - aten.mm     120.000   22.22%"""


def test_the_table(capsys):
    net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    with FlopCounterMode() as counter:
        net(torch.ones(3, 4, requires_grad=True)).sum().backward()
    assert capsys.readouterr().out == TABLE + "\n"
    assert counter.get_table(depth=1).split()[7:] == TABLE.split()[7:18]
    with FlopCounterMode(display=False) as counter:
        net(torch.ones(3000, 4))
        torch.ones(100, 100) @ torch.ones(100, 100)
    lines = counter.get_table().split("\n")
    assert lines[2].split() == ["Global", "2180.000K", "100.00%"]
    assert lines[5].split() == ["Sequential", "180.000K", "8.26%"] and lines[5].startswith(" S")


def test_a_block_without_operations():
    with FlopCounterMode(display=False) as counter:
        torch.ones(3).exp()
    assert counter.get_total_flops() == 0 and counter.get_table().split("\n")[-1].split() == ["Global", "0.000", "0%"]


def test_attention():
    q, k, v = (torch.ones(2, 3, n, 8, requires_grad=True) for n in (4, 5, 5))
    aten = torch.ops.aten
    with FlopCounterMode(display=False) as counter:
        torch.nn.functional.scaled_dot_product_attention(q, k, v).sum().backward()
    assert counter.get_flop_counts()["Global"] == {
        aten._scaled_dot_product_flash_attention: 3840,
        aten._scaled_dot_product_flash_attention_backward: 9600,
    }


def test_hooks_are_there_while_it_counts_only():
    with FlopCounterMode(display=False):
        assert len(_global_forward_pre_hooks) == len(_global_forward_hooks) == 1
    assert not _global_forward_pre_hooks and not _global_forward_hooks


def test_graphs_and_counters_do_not_hold_each_other():
    x = torch.ones(3, 3, requires_grad=True)
    gc.disable()
    try:
        with FlopCounterMode(display=False) as counter:
            y = x @ x
        node = weakref.ref(y.grad_fn)
        del y
        assert node() is None
        x @ x
        gone = weakref.ref(counter)
        del counter
        assert gone() is None
    finally:
        gc.enable()


def test_a_backward_after_the_block_is_not_counted():
    x = torch.ones(3, 3, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        y = (x @ x).sum()
    y.backward()
    assert counter.get_total_flops() == 54
    with counter:
        x.sum().backward()
    assert counter.get_total_flops() == 0 and repr(counter) == "<FlopCounterMode: 0 operations>"
