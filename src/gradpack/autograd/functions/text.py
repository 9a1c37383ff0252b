"""The text of the usual call of a `Function`: no keywords, modes or `setup_context`, and one result that is new.

It depends on which arguments are tensors: each class has that of its first call, and another one after a call with
other arguments. Anything else goes to `call`, or, once forward has run, to `finish`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...base.modes import MODE, TRANSFORMS, within_function
from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...core.views import refresh
from ...graph.node import NoGradEdge, next_seq
from .apply import call, finish
from .node import OWN, start

MOST = 16  # arguments

TEXT = """\
def _apply(cls, args, kwargs):
    _mode = _MODE()
    if kwargs or _mode.leaves_fast_path or _TRANSFORMS(): return _call(cls, args, kwargs)
    if len(args) != {count} or cls.setup_context is not _no_setup: return _choose(cls, args, kwargs)
    {names}, = args
{load}\
    _edges = ({edges},)
    _seq = _next_seq()
    _ctx = _start(cls._backward_cls, _edges, _seq)
    _ctx.needs_input_grad = ({needs},)
    try:
        try:
            _SET(_mode.within or _within(_mode))
            _out = cls.forward(_ctx, {names})
        finally:
            _SET(_mode)
        _recorded = _mode.grad and ({wanted})
        if (
            type(_out) is _Tensor and _out._view is None and _out._edge is None
            and _ctx.dirty_tensors is None and _ctx.non_differentiable is None
            and {new}
        ):
            if not _recorded: return _out
            if (
                _out._spec.differentiable and _ctx.edges is _edges and _ctx.seq is _seq and _ctx.extras is None
                and _OWN.isdisjoint(_ctx.__dict__)
            ):
                _out._edge = _ctx
                _ctx._arguments = [{shapes}]
                _ctx._results = [_out._shape, _out._spec]
                if _ctx.to_save is not None: _ctx._save((_out,), _ctx, _mode)
                return _out
        return _finish(cls, _ctx, _edges, _seq, args, _out, _mode, _recorded)
    finally:
        _ctx.to_save = _ctx.saved_for_forward = _ctx.non_differentiable = _ctx.dirty_tensors = None
"""

LOAD = """\
    _kind = type({n})
    if _kind is not _Tensor and _kind is not _Parameter: return _choose(cls, args, kwargs)
    if {n}._view is not None: _refresh({n})
    {n}_edge = {n}._edge
    if type({n}_edge) is _NoGradEdge: return _call(cls, args, kwargs)
"""


def text_of(flags: tuple[bool, ...]) -> str:
    """Return the text for arguments of which these are tensors."""
    names = [f"a{i}" for i in range(len(flags))]
    tensors = [n for n, flag in zip(names, flags, strict=True) if flag]
    shape = "{0}._shape if {0}_edge is not None else False, {0}._spec if {0}_edge is not None else None"
    return TEXT.format(
        count=len(flags),
        names=", ".join(names),
        load="".join(
            LOAD.format(n=n) if flag else f"    if isinstance({n}, _Tensor): return _choose(cls, args, kwargs)\n"
            for n, flag in zip(names, flags, strict=True)
        ),
        edges=", ".join(f"{n}_edge" for n in tensors),
        needs=", ".join(f"{n}_edge is not None" if flag else "False" for n, flag in zip(names, flags, strict=True)),
        wanted=" or ".join(f"{n}_edge is not None" for n in tensors),
        new=" and ".join(f"_out is not {n}" for n in tensors),
        shapes=", ".join(shape.format(n) if flag else "None, None" for n, flag in zip(names, flags, strict=True)),
    )


@lru_cache(maxsize=128)
def _compiled(flags: tuple[bool, ...], no_setup: Any) -> Any:
    place: dict[str, Any] = {
        "_MODE": MODE.get,
        "_SET": MODE.set,
        "_TRANSFORMS": TRANSFORMS.get,
        "_within": within_function,
        "_Tensor": Tensor,
        "_Parameter": Parameter,
        "_NoGradEdge": NoGradEdge,
        "_OWN": OWN,
        "_refresh": refresh,
        "_next_seq": next_seq,
        "_start": start,
        "_call": call,
        "_choose": choose,
        "_finish": finish,
        "_no_setup": no_setup,
    }
    exec(compile(text_of(flags), "<op Function.apply>", "exec"), place)
    return place["_apply"]


def choose(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a `Function`; calls that follow take the text for arguments like these, if they may."""
    kind = cls._backward_cls
    flags = tuple([isinstance(a, Tensor) for a in args])
    if cls.setup_context is not kind._no_setup:
        kind._apply = call
    elif True in flags and len(flags) <= MOST:
        kind._apply = _compiled(flags, kind._no_setup)
    return call(cls, args, kwargs)
