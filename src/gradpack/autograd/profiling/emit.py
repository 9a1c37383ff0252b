"""Ranges of operations and nodes for the tools of NVIDIA (NVTX) and Intel (ITT).

The text of an operation's range ends with `, seq = N`: the sequence number of the node that it records, if it
records one. That of a node ends with `, stashed seq = M`: the node's sequence number.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

from ...base.exits import Exit
from ...base.modes import MODE, Mode
from ...declare.generate.profiling import OP
from ...graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot, TransformInput, peek_seq
from .aten_names import aten_name
from .recorder import Call, _described, _label, gradients_of


class Emitter:
    """Takes the place of a recorder: pushes and pops ranges."""

    append = None

    def __init__(self, name: str, push: Callable[[str], Any], pop: Callable[[], Any], shapes: bool) -> None:
        self.name, self.push, self.pop, self.shapes = name, push, pop, shapes

    def around(self, op: Any, name: str, run: Call, values: tuple[Any, ...], mode: Mode, kind: int = OP) -> Any:
        text = aten_name(name) if kind == OP else name
        if mode.grad:
            text += f", seq = {peek_seq()}"
        if self.shapes:
            text += f", sizes = {_described(values).shapes}"
        self.push(text)
        try:
            return run(*values)
        finally:
            self.pop()

    def enter(self, name: str, args: str | None) -> Any:
        self.push(name if args is None else f"{name}, {args}")

    def leave(self, token: Any) -> None:
        self.pop()

    def nodes(self) -> Ranges:
        return Ranges(self)


class Ranges:
    """Observes a backward pass: pushes a range for each node."""

    named = note = None

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.open = 0

    def _text(self, node: Node, g: Any) -> str:
        text = AccumulateGrad.name(node) if isinstance(node, AccumulateGrad) else _label(node)
        if node.seq <= 0:
            text += f", stashed seq = {-node.seq}"
        return f"{text}, sizes = {gradients_of(g).shapes}" if self.emitter.shapes else text

    def start(self, node: Node, g: Any) -> None:
        if type(node) not in (OutputSlot, NoGradEdge, TransformInput):
            self.emitter.push(self._text(node, g))
            self.open += 1

    def end(self, grads: Any) -> None:
        self.close()

    def close(self) -> None:
        """Pop the range of a node that has run, or failed."""
        if self.open:
            self.open -= 1
            self.emitter.pop()


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError(f"this needs the library {name}: install gradpack[{extra}]") from missing


class _emit:  # noqa: N801 - the base of two with torch's names
    """Context manager that emits ranges by one library."""

    name: ClassVar[str]

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes
        self.entered = False

    def _calls(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        raise NotImplementedError

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"{self.name} annotation context manager is not reentrant")
        mode = MODE.get()
        if mode.profiler is not None:
            raise RuntimeError(f"{type(self).__name__} cannot be used inside of another profiler: leave that first")
        push, pop = self._calls()
        self._emitter = Emitter(type(self).__name__, push, pop, self.record_shapes)
        try:
            MODE.set(mode.replace(profiler=self._emitter))
            self.entered = True
        except BaseException:  # an interrupt
            MODE.set(mode)
            raise
        return self

    def _leave(self, _: None) -> None:
        mode = MODE.get()
        if self.enabled and mode.profiler is self._emitter:
            MODE.set(mode.replace(profiler=None))

    __exit__ = Exit(lambda self: None, _leave)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(enabled={self.enabled}, record_shapes={self.record_shapes})"


class emit_nvtx(_emit):  # noqa: N801 - torch's name
    """Context manager that makes every operation and every node an NVTX range for NVIDIA's tools.

    The range of an operation is `aten::mul, seq = 5`: if it records a node, that has the sequence number 5. The range
    of the node in backward is `MulBackward0, stashed seq = 5`, which tells the operation that it belongs to.
    Operations under `create_graph=True` within a node have sequence numbers for the next backward likewise.

    Args:
        enabled: False disables it.
        record_shapes: append `sizes = [[2, 3], []]`: the shape of each argument, `[]` for one that is no tensor.

    Raises:
        ImportError: without the library nvtx (`gradpack[nvtx]`).
        RuntimeError: if it is entered twice, or inside of another profiler.

    Example::

        >>> import gradpack as torch
        >>> from importlib.util import find_spec
        >>> x = torch.ones(2, 3, requires_grad=True)
        >>> with torch.autograd.profiler.emit_nvtx(enabled=find_spec("nvtx") is not None, record_shapes=True):
        ...     (x * 2).sum().backward()  # the ranges are in the timeline of the tool that runs this program
    """

    name = "NVTX"

    def _calls(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        nvtx = _library("nvtx", "nvtx")
        return nvtx.push_range, nvtx.pop_range


class emit_itt(_emit):  # noqa: N801 - torch's name
    """Context manager that makes every operation and every node an ITT range for Intel's VTune.

    The text of a range is that of `emit_nvtx`.

    Args:
        enabled: False disables it.
        record_shapes: put the shapes of arguments into the text.

    Raises:
        ImportError: without the library ittapi (`gradpack[itt]`).
        RuntimeError: if it is entered twice, or inside of another profiler.

    Example::

        >>> import gradpack as torch
        >>> from importlib.util import find_spec
        >>> x = torch.ones(2, 3, requires_grad=True)
        >>> with torch.autograd.profiler.emit_itt(enabled=find_spec("ittapi") is not None, record_shapes=True):
        ...     (x * 2).sum().backward()  # the ranges are in the timeline of the tool that runs this program
    """

    name = "ITT"

    def _calls(self) -> tuple[Callable[[str], Any], Callable[[], Any]]:
        itt = _library("ittapi", "itt")
        domain = itt.domain("gradpack")
        return (lambda text: itt.task_begin(domain, itt.string_handle(text))), (lambda: itt.task_end(domain))
