"""The ways of keeping saved tensors that are measured, here and in torch: a block for the forward pass each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.harness import load
from benchmarks.workloads import ROOT
from gradpack import saved

Block = AbstractContextManager[Any]


@contextmanager
def checkpoints(torch: Any, job: Any, inputs: list[Any]) -> Iterator[None]:
    """The job's blocks under torch's own `checkpoint`. What they are called with is kept: it is noted in `inputs`."""

    def call(forward: Any, *args: Any) -> Any:
        inputs.extend(arg for arg in args if arg.requires_grad)
        return torch.utils.checkpoint.checkpoint(forward, *args, use_reentrant=False)

    for block in job.blocks:
        block.forward = partial(call, block.forward)
    try:
        yield
    finally:
        for block in job.blocks:
            del block.forward


STORING: dict[str, Callable[[], Any]] = {
    "mask": saved.mask,
    "bf16": saved.bf16,
    "fp8": saved.fp8,
    "int8": lambda: saved.quantize(8),
    "int4": lambda: saved.quantize(4),
    "lossless": lambda: saved.lossless("blosc2"),
    "disk": saved.disk,
    "int8 >> disk": lambda: saved.quantize(8) >> saved.disk(),
}
RUNNING: dict[str, Callable[[], Any]] = {  # those that run operations of gradpack again
    "recompute": saved.recompute,
    "recompute >> int8": lambda: saved.recompute() >> saved.quantize(8),
    "recompute >> int8 >> disk": lambda: saved.recompute() >> saved.quantize(8) >> saved.disk(),
}
BUDGETS = {f"budget {part}": part for part in (0.75, 0.5, 0.25, 0.1)}
OWN = ("checkpoint", "save_on_cpu")  # torch's own
NAMES = ("none", *OWN, "identity", *STORING, *RUNNING, *BUDGETS)


class Library:
    """One library with a workload in it.

    Attributes:
        name: "gradpack" or "torch".
        job: the workload.
        inputs: what checkpoint keeps; fills during a step.
    """

    def __init__(self, name: str, workload: str, dropout: float) -> None:
        self.name, self.torch = name, import_module(name)
        self.torch.manual_seed(0)
        path = ROOT / "benchmarks/saved_workloads.py"
        source = load(path, f"saved_workloads_in_{name}", {"gradpack": name})
        self.job: Any = source.WORKLOADS[workload](dropout)
        self.what = source.WORKLOADS[workload].__doc__ or ""
        self.inputs: list[Any] = []

    def copy_from(self, other: Library) -> None:
        """Take over the parameters of the same workload in another library."""
        state = {name: self.torch.tensor(value.numpy()) for name, value in other.job.model.state_dict().items()}
        self.job.model.load_state_dict(state)

    def meter(self) -> Any:
        if self.name == "torch":
            return saved.torch.meter(self.job.model)
        return saved.meter([*self.job.model.parameters(), *self.job.model.buffers()])

    def has(self, way: str) -> bool:
        """Whether there is such a way in this library, for this workload."""
        if way == "checkpoint":
            return bool(self.job.blocks)
        return self.name == "gradpack" or way in ("none", "save_on_cpu", *STORING)

    def block(self, way: str, full: int) -> tuple[Callable[[], Block], Callable[[], None]]:
        """What makes the block to stand around a forward pass, and what waits for work beside the program.

        Args:
            way: one of NAMES.
            full: the bytes that are kept without a policy: what budgets are parts of.
        """
        if way == "none":
            return (nullcontext if self.name == "torch" else saved.bypass), _nothing
        if way == "checkpoint":
            return partial(checkpoints, self.torch, self.job, self.inputs), _nothing
        if way == "save_on_cpu":
            return self.torch.autograd.graph.save_on_cpu, _nothing
        if way == "identity":
            policy: Any = saved.Policy()
        elif way in BUDGETS:
            policy = saved.budget(int(BUDGETS[way] * full), disk=1 << 40)
        else:
            policy = {**STORING, **RUNNING}[way]()
        block = saved.torch.hooks(policy, self.job.model) if self.name == "torch" else policy
        return (lambda: block), getattr(policy, "wait", _nothing)


def _nothing() -> None:
    pass
