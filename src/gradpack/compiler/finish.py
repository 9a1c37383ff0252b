"""Text for what a program leaves behind in tensors: versions, gradients and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends import NUMPY
from ..base.devices import CPU
from ..core.tensor import Tensor, alias
from ..graph.node import AccumulateGrad
from .facts import Result, Source, grad_of, tensor_of
from .freed import freed_edge
from .program import Program

Finish = Callable[[Any, list[Tensor]], list[Any]]


def finisher(
    program: Program,
    sources: list[Source],
    written: list[tuple[Source, int]],
    grads: list[tuple[Source, int | None]],
    what: list[Any],
    nodes: Any,
) -> Finish:
    """Return a function of the outputs of a program and the tensors among the arguments, which returns the results.

    It counts the versions of tensors that the program wrote to, sets gradients, and makes tensors of outputs.

    Args:
        nodes: returns the edges of the results that require grad; None if there are none.
    """
    names: dict[str, Any] = {"alias": alias, "grad_of": grad_of, "tensor_of": tensor_of, "freed_edge": freed_edge}
    names |= {"set_grad": _set_grad}
    lines = []

    def tensor(source: Source) -> str:
        found = f"inputs[{source.place}]"
        if source.tensor is not None:
            found = f"t{len(names)}"
            names[found] = source.tensor
        return f"grad_of({found})" if source.grad else found

    def made(output: int) -> str:
        v = program.outputs[output]
        if not v.shape:
            return f"tensor_of(outputs[{output}])"
        spec = f"s{len(names)}"
        names[spec] = NUMPY.spec_for(NUMPY.dtype_of(v.dtype), CPU)
        return f"alias(outputs[{output}], {spec}, {v.shape})"

    for source, count in written:
        lines.append(f"{tensor(source)}._counter[0] += {count}")
    for source, output in grads:
        new = "None" if output is None else made(output)
        edge = None if source.tensor is None else source.tensor._edge
        if type(edge) is AccumulateGrad:  # it is the same one at each call: that is checked
            names[f"e{len(names)}"] = edge
            lines.append(f"e{len(names) - 1}.grad = {new}")
        else:
            lines.append(f"set_grad({tensor(source)}, {new})")
    results, roots = _results(what, sources, names, lines, tensor, made)
    if roots:
        names["nodes"] = nodes
        edges = "".join(f"{roots[i]}._edge, " for i in range(len(roots)))
        lines.append(f"{edges} = nodes(outputs, inputs, [{', '.join(roots[i] for i in range(len(roots)))}])")
    lines.append(f"return [{', '.join(results)}]")
    exec("def finish(outputs, inputs):\n" + "".join(f"    {line}\n" for line in lines), names)
    function: Finish = names["finish"]
    return function


def _results(
    what: list[Any],
    sources: list[Source],
    names: dict[str, Any],
    lines: list[str],
    tensor: Callable[[Source], str],
    made: Callable[[int], str],
) -> tuple[list[str], dict[int, str]]:
    """Append the lines that make results; return their names, and those of results that require grad, by number."""
    results: list[str] = []
    roots: dict[int, str] = {}
    same: dict[int, str] = {}  # what a function returns twice is one tensor
    for i, each in enumerate(what):
        if type(each) is not Result:
            names[f"k{i}"] = each
            results.append(f"k{i}")
        elif each.source >= 0:
            found = tensor(sources[each.source])
            results.append(f"grad_of({found})" if each.requires_grad else found)
        else:
            if each.output not in same:
                name = same[each.output] = f"r{i}"
                lines.append(f"{name} = {made(each.output)}")
                if each.root >= 0:
                    roots[each.root] = name
                if each.requires_grad:
                    lines.append(f"{name}._edge = freed_edge()")
            results.append(same[each.output])
    return results, roots


def _set_grad(tensor: Any, grad: Tensor | None) -> None:
    if type(tensor._edge) is AccumulateGrad:
        tensor._edge.grad = grad
    else:
        tensor._own_grad = grad
