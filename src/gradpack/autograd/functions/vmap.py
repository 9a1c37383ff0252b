"""A custom `Function` under `vmap`: by its `vmap` staticmethod, or by vectorizing its other methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...base.modes import MODE, TRANSFORMS
from ...base.tree import broadcast_to, tree_flatten, tree_unflatten
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import all_examples, batched, entered, outside

if TYPE_CHECKING:
    from ...declare.batching.level import VmapLevel

_SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """The first argument of a `vmap` staticmethod: batch size and `randomness`."""

    batch_size: int
    randomness: str


def call_mapped(
    cls: Any, level: VmapLevel, args: tuple[Any, ...], kwargs: dict[str, Any], with_setup: bool = True
) -> Any:
    """Call a `Function` with arguments batched by `level`. Keyword-only arguments must not be tensors."""
    from ..function import Function

    if any(isinstance(v, Tensor) for v in tree_flatten(kwargs)[0]):
        raise NotImplementedError(
            "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
            f"autograd.Function. Got: {kwargs}"
        )
    overridden = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and overridden:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {_SEE}"
        )
    if cls.generate_vmap_rule or (level.inner and not overridden):
        return _generated(cls, level, args, kwargs, with_setup)
    if not overridden:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            f"the vmap staticmethod or set generate_vmap_rule=True. {_SEE}"
        )
    flat, form = tree_flatten(args)
    dims = tree_unflatten([v._data.place if level.has(v) else None for v in flat], form)
    with outside():
        values = tree_unflatten([_moved_back(v._data) if level.has(v) else v for v in flat], form)
        result = cls.vmap(VmapInfo(level.size, level.randomness), dims, *values, **kwargs)
        start = (
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
            "compatible with the output. "
        )
        if not isinstance(result, tuple):
            raise RuntimeError(f"{start}Got a {type(result)} instead")
        if len(result) != 2:
            raise RuntimeError(f"{start}Got {len(result)} returns instead")
        output, out_dims = result
        leaves, out_form = tree_flatten(output)
        places = broadcast_to(out_dims, out_form)
        if places is None:
            raise RuntimeError(
                "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
                f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
                f"{tree_flatten(out_dims)[1]} but output has structure {out_form}. {_SEE}"
            )
        moved = [
            v.movedim(d, 0) if isinstance(v, Tensor) and d not in (None, 0) else v
            for v, d in zip(leaves, places, strict=True)
        ]
    made = [
        batched(v, level) if isinstance(v, Tensor) and d is not None else v for v, d in zip(moved, places, strict=True)
    ]
    return tree_unflatten(made, out_form)


def _moved_back(data: Any) -> Tensor:
    """Return a tensor with its batch dimension where the caller had it."""
    value: Tensor = data.value
    return value.movedim(0, data.place) if data.place else value


class _Inner:
    """The `ctx` inside the vectorized methods: tensors pass through it in the shape of one example."""

    if TYPE_CHECKING:  # attributes that the user sets

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, ctx: Any, level: VmapLevel) -> None:
        self.__dict__.update(_ctx=ctx, _level=level, _flags=(), _forward_flags=())

    def save_for_backward(self, *tensors: Any) -> None:
        self.__dict__["_flags"] = tuple(self._level.has(t) for t in tensors)
        self._ctx.save_for_backward(*map(self._level.unwrap, tensors))

    def save_for_forward(self, *tensors: Any) -> None:
        self.__dict__["_forward_flags"] = tuple(self._level.has(t) for t in tensors)
        self._ctx.save_for_forward(*map(self._level.unwrap, tensors))

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._ctx.mark_non_differentiable(*map(self._level.unwrap, tensors))

    def mark_dirty(self, *tensors: Any) -> None:
        self._ctx.mark_dirty(*map(self._level.unwrap, tensors))

    def set_materialize_grads(self, value: bool) -> None:
        self._ctx.set_materialize_grads(value)

    @property
    def needs_input_grad(self) -> Any:
        return self._ctx.needs_input_grad

    @property
    def saved_tensors(self) -> Any:
        values = self._ctx.saved_tensors
        flags = self._flags if len(self._flags) == len(values) else self._forward_flags
        return tuple(batched(v, self._level) if f else v for v, f in zip(values, flags, strict=True))


def _generated(cls: Any, level: VmapLevel, args: tuple[Any, ...], kwargs: dict[str, Any], with_setup: bool) -> Any:
    """Return a `Function` on tensors with batch dimension whose methods are those of `cls`, vectorized."""
    from ..function import Function

    flags = [level.has(a) for a in args]
    out_flags: list[bool] = []
    many: list[bool] = []

    def wrap(values: Any, batch: Any) -> list[Any]:
        return [batched(v, level) if f and isinstance(v, Tensor) else v for v, f in zip(values, batch, strict=True)]

    def inside(function: Any, *values: Any) -> Any:
        outer = MODE.get()
        try:
            MODE.set(entered(outer, level))
            return function(*values)
        finally:
            MODE.set(outer)

    def forward(*values: Any) -> Any:
        return finished(inside(partial(cls.forward, **kwargs), *wrap(values, flags)))

    def forward_with_ctx(ctx: Any, *values: Any) -> Any:
        ctx.inner = _Inner(ctx, level)
        return finished(inside(partial(cls.forward, **kwargs), ctx.inner, *wrap(values, flags)))

    def finished(made: Any) -> Any:
        many[:] = [isinstance(made, tuple)]
        items = made if isinstance(made, tuple) else (made,)
        out_flags[:] = [level.has(m) for m in items]
        out = tuple(map(level.unwrap, items))
        return out if many[0] else out[0]

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.inner = inner = _Inner(ctx, level)
        outs = wrap(output if many[0] else (output,), out_flags)
        inside(cls.setup_context, inner, tuple(wrap(inputs, flags)), tuple(outs) if many[0] else outs[0])

    def backward(ctx: Any, *grads: Any) -> Any:
        call = cls.backward if cls.backward is not Function.backward else cls.vjp
        # The gradient of an unbatched result is either separate for each example, or their sum.
        given = [g if g is None or f else g / level.size for g, f in zip(grads, out_flags, strict=True)]
        made = inside(call, ctx.inner, *wrap(given, out_flags))
        made = made if isinstance(made, tuple) else (made,)
        return tuple(_gradient(m, f) for m, f in zip(made, flags, strict=True))

    def _gradient(value: Any, flag: bool) -> Any:
        if value is None:
            return None
        if flag:
            return all_examples(value, level)
        return level.unwrap(value).sum(0) if level.has(value) else value * level.size

    def jvp(ctx: Any, *tangents: Any) -> Any:
        made = inside(cls.jvp, ctx.inner, *wrap(tangents, flags))
        made = made if isinstance(made, tuple) else (made,)
        out = [
            None if m is None else all_examples(m, level) if f else level.unwrap(m)
            for m, f in zip(made, out_flags, strict=True)
        ]
        return tuple(out) if many[0] else out[0]

    body = {
        "forward": staticmethod(forward if with_setup else forward_with_ctx),
        **({"setup_context": staticmethod(setup_context)} if with_setup else {}),
        "backward": staticmethod(backward),
        "jvp": staticmethod(jvp),
        "generate_vmap_rule": True,
    }
    meta: Any = type(Function)
    around = TRANSFORMS.get()
    name = cls.__name__ if around and around[-1].number > level.number else f"Vmapped{cls.__name__}"
    mapped = meta(name, (Function,), body)
    with outside():
        made = mapped.apply(*[level.unwrap(a) for a in args])
    items = wrap(made if isinstance(made, tuple) else (made,), out_flags)
    return tuple(items) if isinstance(made, tuple) else items[0]
