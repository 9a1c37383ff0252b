"""Valid samples with one argument replaced by something of another kind, for both libraries.

As a program it prints where they do not agree in refusing, for the operators named, or all::

    python -m tests.oracle.bad_arguments cumsum linalg.inv
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from tests.oracle.opinfo import samples, table
from tests.oracle.translate import Translation, our_function

NO_TENSOR = (None, "a", [1.5], {})
NO_FLAG = (None, "a", 1)
NO_INT = ("a", True, 1.5, {}, 2**70)
NO_NUMBER = ("a", {}, np.array([1.0, 2.0]))

# Where torch differs from itself, or nobody would mind: by operator, and what was replaced.
KNOWN = {
    "__getitem__": "a subscript of what is no tensor is Python's own affair",
    "item": "the same of a method that is called on what is no tensor",
    "atleast_1d": "an empty dict is an empty sequence",
    "atleast_2d": "the same",
    "atleast_3d": "the same",
    "_segment_reduce.lengths": "a private operator: any truth value is taken",
    "_segment_reduce.offsets": "the same",
    "nn.functional.poisson_nll_loss": "`full` is taken as a truth value, as `gaussian_nll_loss` does in torch",
    "_native_batch_norm_legit": "an overload with running statistics that are None is taken",
    "cumulative_trapezoid": "None for `x` is as good as none",
    "trapezoid": "the same",
    "trapz": "the same",
    "max.binary": "None for `other` is as good as none",
    "min.binary": "the same",
    "normal": "a list of one number is one",
    "tensor_split": "an empty dict is an empty sequence",
    "to": "which overload was meant is guessed",
}

# Operators that take some of NO_INT or NO_NUMBER in silence, or refuse them as something else.
KNOWN_NUMBERS = (
    "expand histogram histogramdd lerp linalg.vander linspace masked.norm masked.normalize max.reduction_with_dim "
    "min.reduction_with_dim narrow nn.functional.batch_norm "
    "nn.functional.channel_shuffle nn.functional.conv_transpose1d nn.functional.conv_transpose2d "
    "nn.functional.conv_transpose3d nn.functional.cosine_embedding_loss nn.functional.glu "
    "nn.functional.hinge_embedding_loss nn.functional.instance_norm nn.functional.interpolate.bicubic "
    "nn.functional.interpolate.bilinear nn.functional.interpolate.linear nn.functional.interpolate.nearest "
    "nn.functional.interpolate.nearest-exact nn.functional.interpolate.trilinear nn.functional.layer_norm "
    "nn.functional.local_response_norm nn.functional.margin_ranking_loss "
    "nn.functional.max_unpool3d.grad nn.functional.normalize "
    "nn.functional.one_hot nn.functional.pad.circular nn.functional.pad.reflect nn.functional.rms_norm "
    "nn.functional.softplus nn.functional.threshold nn.functional.unfold nn.functional.upsample_bilinear "
    "nn.functional.upsample_nearest norm.inf normal.number_mean renorm resize_ roll scalar_tensor select "
    "slice_scatter split split.list_args split_with_sizes split_with_sizes_copy stft svd_lowrank unflatten view "
)

# What Python and NumPy say, and no operation should.
FROM_WITHIN = ("object has no attribute", "not subscriptable", "ufunc '", "list index", "tuple index")


def replaced(sample: Any, numbers: bool = True) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """What was replaced, in words, with positional and named arguments."""
    given, named = [sample.input, *sample.args], dict(sample.kwargs)
    for place, value in enumerate(given):
        for other in _others(value, numbers):
            yield f"argument {place}: {other!r}", [*given[:place], other, *given[place + 1 :]], named
    for name, value in named.items():
        for other in _others(value, numbers):
            yield f"{name}={other!r}", given, {**named, name: other}
    yield "no_such_argument=1", given, {**named, "no_such_argument": 1}
    yield "twelve more arguments", [*given, *[1] * 12], named


def _others(value: Any, numbers: bool) -> tuple[Any, ...]:
    if isinstance(value, torch.Tensor):
        return NO_TENSOR
    if isinstance(value, bool):
        return NO_FLAG
    if not numbers:
        return ()
    if type(value) is tuple and value and all(type(n) is int for n in value):
        return tuple((odd, *value[1:]) for odd in NO_INT)
    return NO_INT if type(value) is int else NO_NUMBER if type(value) is float else ()


def disagreements(name: str, info: Any) -> list[str]:
    """Where torch raises a TypeError and gradpack does not, or raises one of somebody else's words."""
    ours = our_function(info)
    if not info.dtypes:  # not for the CPU
        return []
    dtype = "float32" if torch.float32 in info.dtypes else str(min(info.dtypes, key=str)).split(".")[1]
    found: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sample = next(samples(info, dtype, 0, None), None)
    except IndexError:  # there are none for the CPU
        return found
    if ours is None or sample is None:
        return found
    for what, given, named in replaced(sample, name not in KNOWN_NUMBERS.split()):
        translate = Translation()
        arguments, keywords = translate(given), translate(named)
        before = [
            (mine, mine._version, repr(mine.tolist())) for theirs, mine in translate.pairs if not theirs.is_sparse
        ]
        if not _refused(info.op, given, named):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours(*arguments, **keywords)
            found.append(f"{name}: {what}: accepted")
        except TypeError as error:
            if any(text in str(error) and "does not take what" not in str(error) for text in FROM_WITHIN):
                found.append(f"{name}: {what}: {error}")
        except Exception as error:
            found.append(f"{name}: {what}: {type(error).__name__}: {error}")
        if any((mine._version, repr(mine.tolist())) != (version, values) for mine, version, values in before):
            found.append(f"{name}: {what}: changed an operand")
    return found


def _refused(function: Any, given: list[Any], named: dict[str, Any]) -> bool:
    """Whether torch raises a TypeError."""
    copies = [v.clone() if isinstance(v, torch.Tensor) else v for v in given]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*copies, **named)
    except TypeError:
        return True
    except Exception:
        return False
    return False


def main(names: list[str]) -> None:
    operators = table()
    for name in names or sorted(operators):
        for line in disagreements(name, operators[name]):
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
