"""What the nodes of both libraries are called, lead to and have saved, for torch's own sample inputs.

As a program it prints what differs::

    python -m tests.oracle.graph_nodes mul softmax
    python -m tests.oracle.graph_nodes --all
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from typing import Any

import torch

import gradpack

from .agreement import flat
from .opinfo import table
from .translate import Translation, array_of, our_function


def described(value: Any, kind: Any) -> Any:
    """A saved value, so that those of both libraries compare equal if they are."""
    if isinstance(value, kind):
        array = array_of(value) if kind is torch.Tensor else value.detach().numpy()
        if array.dtype.kind in "fc":
            array = array.astype("complex128").round(4)
        if array.dtype != bool:
            array = array + 0  # no -0
        return str(value.dtype).split(".")[1], tuple(value.shape), str(array.tolist())
    if isinstance(value, list | tuple):
        return tuple(described(v, kind) for v in value)
    if isinstance(value, torch.dtype | gradpack.dtype):
        return str(value).split(".")[1]
    if isinstance(value, float):
        return "float", round(value, 5)
    return type(value).__name__, str(value)


def saved(node: Any, kind: Any) -> dict[str, Any]:
    found = {}
    for name in dir(node):
        if name.startswith("_saved_"):
            try:
                found[name[7:]] = described(getattr(node, name), kind)
            except Exception as error:
                found[name[7:]] = f"{type(error).__name__}: {error}"
    return found


def node_differences(theirs: Any, ours: Any) -> list[str]:
    """In words."""
    found = []
    if theirs.name() != ours.name():
        return [f"name {ours.name()} instead of {theirs.name()}"]
    a, b = saved(theirs, torch.Tensor), saved(ours, gradpack.Tensor)
    for name in sorted({*a, *b}):
        if name not in b:
            found.append(f"lacks {name} = {str(a[name])[:80]}")
        elif name not in a:
            found.append(f"has {name}")
        elif a[name] != b[name]:
            found.append(f"{name} = {str(b[name])[:80]} instead of {str(a[name])[:80]}")
    return found


def next_of(node: Any) -> list[Any]:
    return [(None if n is None else n.name(), nr) for n, nr in node.next_functions]


def compare(info: Any, limit: int = 8) -> Counter[str]:
    found: Counter[str] = Counter()
    function = our_function(info)
    if function is None or torch.float32 not in info.dtypes or not info.supports_autograd:
        return found
    for i, sample in enumerate(info.sample_inputs("cpu", torch.float32, requires_grad=True)):
        if i >= limit:
            break
        translate = Translation()
        arguments = (translate(sample.input), translate(tuple(sample.args)), translate(dict(sample.kwargs)))
        try:
            expected = info.op(sample.input, *sample.args, **sample.kwargs)
            given = function(arguments[0], *arguments[1], **arguments[2])
        except Exception:
            continue
        t, o = flat(expected, torch.Tensor), flat(given, gradpack.Tensor)
        for a, b in zip(t, o, strict=False):
            if getattr(a, "grad_fn", None) is None or getattr(b, "grad_fn", None) is None:
                continue
            lines = node_differences(a.grad_fn, b.grad_fn)
            if not lines and next_of(a.grad_fn) != next_of(b.grad_fn):
                lines = [f"leads to {next_of(b.grad_fn)} instead of {next_of(a.grad_fn)}"]
            if a.output_nr != b.output_nr:
                lines.append(f"output_nr {b.output_nr} instead of {a.output_nr}")
            found.update(lines)
            break
    return found


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    ops = table()
    for name, info in ops.items():
        if names == ["--all"] or name in names:
            try:
                found = compare(info)
            except Exception as error:
                found = Counter([f"fails: {error!r}"])
            for line, count in found.items():
                print(f"{name}: {line} ({count})", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
