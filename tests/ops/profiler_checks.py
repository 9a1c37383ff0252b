"""What holds of every operation while a profiler is on."""

from __future__ import annotations

import numpy as np

from gradpack.autograd.profiler import profile
from gradpack.autograd.profiling.aten_names import aten_name
from tests.ops.cases import Case
from tests.ops.layout_checks import _same_results

_EVALUATE = "autograd::engine::evaluate_function: "


def profiled(case: Case) -> None:
    """A profiler changes no bit, takes no other path, and sees the operation and its node."""
    arrays = case.arrays(np.float32)
    seeds = case.seeds(arrays) if case.inputs else []
    plain = case.tensors(arrays)
    outs = case.call(plain)
    expected = case.gradients_of(case.differentiable(outs), [plain[i] for i in case.inputs], seeds) if seeds else []
    for options in ({}, {"with_flops": True, "profile_memory": True, "with_stack": True}):
        tensors = case.tensors(arrays)
        with profile(**options) as prof:
            seen = case.call(tensors)
            found = (
                case.gradients_of(case.differentiable(seen), [tensors[i] for i in case.inputs], seeds) if seeds else []
            )
        _same_results(case, outs, seen)
        for a, b in zip(outs, seen, strict=True):
            if a.requires_grad:
                assert type(a.grad_fn) is type(b.grad_fn), f"{case}: another node, hence another path"
        for a, b in zip(expected, found, strict=True):
            assert a.dtype == b.dtype and a.tobytes() == b.tobytes(), f"{case}: a profiler changes gradients"
        events = prof.function_events
        names = [e.name for e in events]
        assert aten_name(case.op.name) in names, f"{case}: {names}"
        top = [e for e in events if e.cpu_parent is None and e.name == aten_name(case.op.name)]
        nodes = [b.grad_fn for b in seen if b.requires_grad]
        if nodes and expected:
            name = nodes[0].name()
            ran = [e for e in events if e.name == name and e.scope == 1]
            assert ran, f"{case}: {name} is not among {names}"
            assert ran[0].sequence_nr == top[0].sequence_nr == nodes[0]._sequence_nr(), f"{case}: numbers do not agree"
            assert ran[0].cpu_parent.name == _EVALUATE + name
        for e in events:
            assert e.self_cpu_time_total >= 0 and e.time_range.end >= e.time_range.start
