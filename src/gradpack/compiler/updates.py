"""Steps of SGD and Adam as calls on arrays, whose numbers a program reads from the options at each call."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..backends import NUMPY
from ..core.tensor import Tensor
from ..optim import _kernels as kernels
from ..optim.adam import Adam
from ..optim.adamw import AdamW
from ..optim.sgd import SGD
from .facts import grad_of
from .lowering import STEPS
from .program import GuardFailed, Instruction, line_of_caller
from .recorded_array import RecordedArray
from .recording import Recorder

_FLAGS = ("maximize", "nesterov", "amsgrad", "decoupled_weight_decay")
_SIGNS = ("momentum", "weight_decay", "dampening")  # if they are 0, a step has fewer calls


def recorded(recorder: Recorder, optimizer: Any) -> bool:
    """Record a step of an optimizer and return True, if it is one whose steps are known as calls on arrays."""
    step = {SGD: _sgd, Adam: _adam, AdamW: _adam}.get(type(optimizer))
    if step is None or not all(_fits(optimizer, group) for group in optimizer.param_groups):
        return False
    for group in optimizer.param_groups:
        alike: dict[Any, list[Tensor]] = {}  # of one dtype, after as many steps
        for p in group["params"]:
            if grad_of(p) is not None:
                count = optimizer.state.get(p, {}).get("step")
                steps = None if count is None else count._data._array.item()
                alike.setdefault((p._data.dtype, steps), []).append(p)
        for params in alike.values():
            step(recorder, optimizer, group, params)
    optimizer._opt_called = True
    return True


def _fits(optimizer: Any, group: dict[str, Any]) -> bool:
    numbers = [group.get(n, 0.0) for n in ("lr", "weight_decay", "momentum", "dampening", "eps")]
    numbers += group.get("betas", ())
    if not all(type(n) in (int, float) for n in numbers) or group.get("differentiable") or group.get("capturable"):
        return False
    for p in group["params"]:
        grad: Any = grad_of(p)
        if grad is None:
            continue
        own = [v for v in optimizer.state.get(p, {}).values() if isinstance(v, Tensor)]
        if type(optimizer) is SGD:
            known = bool(own) or not group["momentum"]
        else:
            known = len(own) == 3 + bool(group["amsgrad"])
        arrays = [t._data for t in (p, grad, *own)]
        if not known or not all(type(a) is RecordedArray for a in arrays) or p._data.dtype.char not in "fd":
            return False
        if not p._data.flags.writeable or any(a.dtype != p._data.dtype for a in arrays if a.ndim == p._data.ndim):
            return False
    return True


def _flags(group: dict[str, Any]) -> tuple[Any, ...]:
    return (*[bool(group.get(n)) for n in (*_FLAGS, *_SIGNS)], group.get("betas", (1,))[0] <= 0.5)


def _numbers(recorder: Recorder, name: str, group: Any, make: Callable[..., list[Any]], counts: list[Any]) -> list[Any]:
    """Record, as the first instruction, that the options become arrays; return them."""
    flags, known = _flags(group), list[Any]([None, None, None])
    ahead = _writes(recorder, counts[0].variable) if counts else 0  # earlier steps of the program
    values = itemgetter(*[n for n in (*_FLAGS, *_SIGNS, "lr", "eps", "betas") if n in group])

    def read(*counts: Any) -> Any:
        now, step = values(group), counts[0].item() + 1 + ahead if counts else 0
        for count in counts:
            if count.item() + 1 + ahead != step:
                raise GuardFailed(f"parameters of {name} have taken different numbers of steps")
        if known[0] != now:
            if _flags(group) != flags or not all(type(group.get(n, 0)) in (int, float, bool) for n in (*_SIGNS, "lr")):
                raise GuardFailed(f"an option of {name} became zero, or a tensor, or is not any longer")
            known[0], known[1] = now, None
        if known[1] != step:
            known[1:] = step, make(step)
        return known[2]

    if any(_writes(recorder, c.variable) != ahead for c in counts):
        recorder.refuse(f"parameters of {name} have taken different numbers of steps")
    arrays = read(*[c._array - ahead for c in counts])
    made = [recorder.array(a) for a in arrays]
    results = [a.variable for a in made]
    given = tuple(c.variable for c in counts)
    facts = [(a.shape, a.dtype) for a in arrays]
    line = line_of_caller()
    each = Instruction(read, f"options_of_{name}", given, {}, results, (), facts, "number", line)
    recorder.instructions.insert(recorder.first, each)
    recorder.first += 1
    return made


def _writes(recorder: Recorder, count: Any) -> int:
    """Return how often the program has written to the number of steps."""
    return sum(any(w.memory == count.memory for w in each.writes) for each in recorder.instructions)


def _sgd(recorder: Recorder, optimizer: Any, group: Any, params: list[Any]) -> None:
    spec = NUMPY.spec(params[0]._data._array)
    names = ("lr", "weight_decay", "momentum")

    def make(step: int) -> list[Any]:
        return kernels.constants(spec, *[group[n] for n in names], 1 - group["dampening"])

    factors = _numbers(recorder, "sgd", group, make, [])
    options = {n: group[n] for n in ("maximize", "weight_decay", "dampening", "nesterov")}
    buffers = [optimizer.state[p]["momentum_buffer"] if group["momentum"] else None for p in params]
    _update_all(kernels.sgd_updates, [options, *factors, False], params, buffers)
    for p, buffer in zip(params, buffers, strict=True):
        for t in (p, buffer):
            if t is not None:
                t._counter[0] += 1


def _update_all(function: Callable[..., None], given: list[Any], params: list[Any], *states: list[Any]) -> None:
    """Record the update of all parameters with what is kept for each of them."""
    columns = [params, [grad_of(p) for p in params], *states]
    batch = [None if t is None else t._data for row in zip(*columns, strict=True) for t in row]
    STEPS.bind(function)(batch, given, sum(p._data.size for p in params))


def _adam(recorder: Recorder, optimizer: Any, group: Any, params: list[Any]) -> None:
    spec = NUMPY.spec(params[0]._data._array)
    states = [optimizer.state[p] for p in params]

    def make(step: int) -> list[Any]:
        return kernels._adam_constants(spec, step, dict(group))[1:]

    factors = _numbers(recorder, "adam", group, make, [own["step"]._data for own in states])
    options = {n: group[n] for n in ("maximize", "weight_decay", "decoupled_weight_decay", "betas")}
    averages = [[own[n] for own in states] for n in ("exp_avg", "exp_avg_sq")]
    averages.append([own["max_exp_avg_sq"] if group["amsgrad"] else None for own in states])
    for own in states:
        own["step"]._data += 1
    _update_all(kernels.adam_updates, [options, *factors], params, *averages)
    for p, own in zip(params, states, strict=True):
        p._counter[0] += 2 if options["weight_decay"] and options["decoupled_weight_decay"] else 1
        for t in own.values():
            t._counter[0] += 1
