"""One operator called by both libraries, and what torch would answer in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tests.oracle.agreement import TOLERANCE, flat
from tests.oracle.translate import Translation


def hides_seed(function: Any) -> bool:
    """Whether a random operator is wrapped so that the generator is as it was before."""
    return "wrapper_set_seed" in getattr(getattr(function, "__code__", None), "co_names", ())


def near(dtype: str) -> float:
    """The tolerance for a sample of a dtype: integers may be computed with in float32."""
    return TOLERANCE.get(dtype, TOLERANCE["float32"])


class Call:
    """One way to call an operator, by both libraries, on one sample; it remembers what torch answered."""

    def __init__(self, theirs: Any, ours: Any, sample: Any, *, clones: bool = False) -> None:
        self.translate = Translation()
        self.sample = sample
        given = (sample.input, tuple(sample.args), dict(sample.kwargs))
        translated = tuple(map(self.translate, given))
        first, own = given[0], translated[0]
        if clones:
            first, own = first.clone(), own.clone()
        torch.manual_seed(1)
        self.state = torch.random.get_rng_state()
        self.expected = theirs(first, *given[1], **given[2])
        self.random = hides_seed(theirs) or not bool((self.state == torch.random.get_rng_state()).all())
        self.error: Exception | None = None
        self.given: Any = None
        try:
            self.given = ours(own, *translated[1], **translated[2])
        except Exception as error:
            self.error = error


def exact(info: Any, call: Call) -> bool:
    """Whether values can be compared: not where they are random, or whatever was in memory."""
    return not call.random and "empty" not in info.name and info.name != "resize_"


def cotangents(outputs: list[Any], seed: int = 3) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    made = []
    for o in outputs:
        real = torch.rand(o.shape, generator=generator, dtype=torch.float64) + 0.5
        if o.is_complex():
            real = torch.complex(real, torch.rand(o.shape, generator=generator, dtype=torch.float64))
        made.append(real.to(o.dtype))
    return made


def differentiable(value: Any, kind: Any) -> list[Any]:
    return [v for v in flat(value, kind) if isinstance(v, kind) and v.requires_grad]


_WIDER = {torch.bfloat16: torch.float32, torch.float16: torch.float32, torch.complex32: torch.complex64}


def in_float32(value: Any, memo: dict[int, Any]) -> Any:
    """The same arguments with tensors of half precision widened."""
    if isinstance(value, torch.Tensor) and value.dtype in _WIDER:
        if id(value) not in memo:
            memo[id(value)] = value.detach().to(_WIDER[value.dtype]).requires_grad_(value.requires_grad)
        return memo[id(value)]
    if type(value) in (list, tuple):
        return type(value)(in_float32(v, memo) for v in value)
    if type(value) is dict:
        return {k: in_float32(v, memo) for k, v in value.items()}
    return _WIDER.get(value, value) if isinstance(value, torch.dtype) else value


def widened(info: Any, sample: Any, order: int) -> tuple[Any, list[Any]]:
    """What torch gives in float32 for a sample of half precision: results and gradients."""
    memo: dict[int, Any] = {}
    arguments = (in_float32(sample.input, memo), in_float32(tuple(sample.args), memo), in_float32(sample.kwargs, memo))
    try:
        torch.manual_seed(1)
        result = info.op(arguments[0], *arguments[1], **arguments[2])
        if not order:
            return result, []
        process = sample.output_process_fn_grad or (lambda x: x)
        outs, inputs = differentiable(process(result), torch.Tensor), [t for t in memo.values() if t.requires_grad]
        return result, list(torch.autograd.grad(outs, inputs, cotangents(outs), allow_unused=True))
    except Exception:
        return None, []


def refusal(expected: Exception, call: Callable[[], Any]) -> str | None:
    """What is wrong where torch raised `expected`."""
    first = str(expected).splitlines()[0][:110] if str(expected) else ""
    try:
        call()
    except Exception as error:
        if isinstance(error, type(expected)):
            return None
        return f"{type(error).__name__} ({str(error)[:90]}) instead of {type(expected).__name__} ({first})"
    return f"accepted instead of {type(expected).__name__} ({first})"
