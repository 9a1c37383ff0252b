"""Messages of errors have the words that torch's own tests of bad inputs ask for."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from tests.oracle.opinfo import table  # noqa: E402
from tests.oracle.translate import Translation, our_function  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402
from torch.testing._internal.common_optimizers import optim_db  # noqa: E402

import gradpack  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")  # torch's regular expressions

# Both libraries refuse these; the words differ.
KNOWN = {
    "linspace": "a number of steps that is no int: the argument is named, not all types that were given",
    "linspace.tensor_overload": "the same",
    "logspace": "the same",
    "logspace.tensor_overload": "the same",
}


def told(call: Any) -> Exception | None:
    """What a call raises; warnings, which torch lists as errors too, are raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            call()
        except Exception as error:
            return error
    return None


def wrong(where: str, kind: Any, words: str, error: Exception | None) -> Iterator[str]:
    """In words, where the error is none of this kind with these words; names of the two packages are one."""
    said = str(error).replace("gradpack.", "torch.")
    if not isinstance(error, kind) or not re.search(words, said):
        yield f"{where}: {type(error).__name__} ({said[:150]}) instead of {kind.__name__} ({words})"


def of_operator(name: str, info: Any) -> Iterator[str]:
    function = our_function(info)
    if info.error_inputs_func is None or function is None:
        return
    for bad in info.error_inputs("cpu"):
        sample, translate = bad.sample_input, Translation()
        theirs = told(lambda s=sample: info.op(s.input, *s.args, **s.kwargs))
        if theirs is None or not re.search(bad.error_regex, str(theirs)):
            continue  # torch does not keep to its list
        try:
            given = translate(sample.input), translate(tuple(sample.args)), translate(dict(sample.kwargs))
        except (AttributeError, TypeError, ValueError):  # a dtype, layout or number of dimensions that NumPy lacks
            continue
        ours = told(lambda g=given: function(g[0], *g[1], **g[2]))
        yield from wrong(name, type(theirs), bad.error_regex, ours)


def of_module(info: Any) -> Iterator[str]:
    if info.module_error_inputs_func is None:
        return
    ours = getattr(gradpack.nn, info.module_cls.__name__)
    for training in True, False:
        for bad in info.module_error_inputs_func(
            info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
        ):
            build, forward = bad.module_error_input.constructor_input, bad.module_error_input.forward_input
            translate = Translation()

            def call(build: Any = build, forward: Any = forward, translate: Any = translate) -> None:
                module = ours(*translate(tuple(build.args)), **translate(dict(build.kwargs)))
                if forward is not None:
                    module(*translate(tuple(forward.args)), **translate(dict(forward.kwargs)))

            yield from wrong(info.name, bad.error_type, bad.error_regex, told(call))


def of_optimizer(info: Any) -> Iterator[str]:
    for bad in info.optim_error_inputs_func(device="cpu", dtype=torch.float32):
        given, translate = bad.optimizer_error_input, Translation()
        params = translate(given.params)
        for theirs, own in list(translate.pairs):
            own.grad = None if theirs.grad is None else translate(theirs.grad)

        def call(params: Any = params, given: Any = given, translate: Any = translate, bad: Any = bad) -> None:
            made = getattr(gradpack.optim, info.name)(params, **translate(dict(given.kwargs)))
            if "STEP" in bad.error_on.name:
                made.step()

        yield from wrong(info.name, bad.error_type, bad.error_regex, told(call))


def test_of_operators() -> None:
    found = {name: list(of_operator(name, info)) for name, info in table().items()}
    assert [line for name, lines in found.items() if name not in KNOWN for line in lines] == []
    assert [name for name in KNOWN if not found[name]] == [], "these agree now: take them out of KNOWN"


def test_of_modules() -> None:
    assert [line for info in module_db for line in of_module(info)] == []


def test_of_optimizers() -> None:
    assert [line for info in optim_db for line in of_optimizer(info)] == []
