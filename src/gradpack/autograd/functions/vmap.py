"""A custom `Function` under `vmap`: by its `vmap` staticmethod, or by vectorizing its other methods."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...base.modes import MODE, TRANSFORMS, using
from ...base.tree import broadcast_to, tree_flatten, tree_unflatten
from ...core.tensor import Tensor
from ...declare.batching.batch_tensor import all_examples, batched, outside

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
    dims = [v._data.place if level.has(v) else None for v in flat]
    with outside():
        whole = [v._data.value.movedim(0, d) if d else level.unwrap(v) for v, d in zip(flat, dims, strict=True)]
        values = tree_unflatten(whole, form)
        result = cls.vmap(VmapInfo(level.size, level.randomness), tree_unflatten(dims, form), *values, **kwargs)
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
        pairs = zip(leaves, places, strict=True)
        moved = [v.movedim(d, 0) if isinstance(v, Tensor) and d else v for v, d in pairs]
    made = [v if d is None else level.wrap(v) for v, d in zip(moved, places, strict=True)]
    return tree_unflatten(made, out_form)


class _Inner:
    """The `ctx` inside the vectorized methods: tensors pass through it in the shape of one example."""

    def __init__(self, ctx: Any, level: VmapLevel) -> None:
        self._ctx, self._level = ctx, level
        self._flags: tuple[bool, ...] = ()
        self._forward_flags: tuple[bool, ...] = ()
        self.set_materialize_grads = ctx.set_materialize_grads
        self.needs_input_grad = ctx.needs_input_grad

    if TYPE_CHECKING:  # attributes that the user sets

        def __getattr__(self, name: str) -> Any: ...

    def _outside(self, method: str, tensors: tuple[Any, ...]) -> tuple[bool, ...]:
        """Call a method of the outer `ctx` with the tensors of all examples; return which of these are batched."""
        getattr(self._ctx, method)(*map(self._level.unwrap, tensors))
        return tuple(map(self._level.has, tensors))

    def save_for_backward(self, *tensors: Any) -> None:
        self._flags = self._outside("save_for_backward", tensors)

    def save_for_forward(self, *tensors: Any) -> None:
        self._forward_flags = self._outside("save_for_forward", tensors)

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self._outside("mark_non_differentiable", tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        self._outside("mark_dirty", tensors)

    @property
    def saved_tensors(self) -> Any:
        values = self._ctx.saved_tensors
        flags = self._flags if len(self._flags) == len(values) else self._forward_flags
        return tuple(batched(v, self._level) if f else v for v, f in zip(values, flags, strict=True))


class _Vectorized:
    """The methods of a `Function` on tensors with batch dimension: they call those of `cls` under `level`."""

    def __init__(self, cls: Any, level: VmapLevel, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.cls, self.level = cls, level
        self.call_forward = partial(cls.forward, **kwargs)
        self.flags = [level.has(a) for a in args]
        self.out_flags: list[bool] = []
        self.many = False  # does forward return a tuple?

    def wrap(self, values: Any, flags: Any) -> list[Any]:
        return [self.level.wrap(v) if f else v for v, f in zip(values, flags, strict=True)]

    def inside(self, function: Any, *values: Any) -> Any:
        with using(levels=(*MODE.get().levels, self.level)):
            return function(*values)

    def given(self, items: Any) -> Any:
        """Return items as forward returned them: as a tuple, or the only one."""
        return tuple(items) if self.many else items[0]

    def finished(self, made: Any) -> Any:
        self.many = isinstance(made, tuple)
        items = made if self.many else (made,)
        self.out_flags = [self.level.has(m) for m in items]
        return self.given([*map(self.level.unwrap, items)])

    def forward(self, *values: Any) -> Any:
        return self.finished(self.inside(self.call_forward, *self.wrap(values, self.flags)))

    def forward_with_ctx(self, ctx: Any, *values: Any) -> Any:
        ctx.inner = _Inner(ctx, self.level)
        return self.finished(self.inside(self.call_forward, ctx.inner, *self.wrap(values, self.flags)))

    def setup_context(self, ctx: Any, inputs: Any, output: Any) -> None:
        ctx.inner = inner = _Inner(ctx, self.level)
        outs = self.wrap(output if self.many else (output,), self.out_flags)
        self.inside(self.cls.setup_context, inner, tuple(self.wrap(inputs, self.flags)), self.given(outs))

    def backward(self, ctx: Any, *grads: Any) -> Any:
        from ..function import Function

        call = self.cls.backward if self.cls.backward is not Function.backward else self.cls.vjp
        # The gradient of an unbatched result is either separate for each example, or their sum.
        size = self.level.size
        given = [g if g is None or f else g / size for g, f in zip(grads, self.out_flags, strict=True)]
        made = self.inside(call, ctx.inner, *self.wrap(given, self.out_flags))
        made = made if isinstance(made, tuple) else (made,)
        return tuple(self._gradient(m, f) for m, f in zip(made, self.flags, strict=True))

    def _gradient(self, value: Any, flag: bool) -> Any:
        if value is None:
            return None
        if flag:
            return all_examples(value, self.level)
        return self.level.unwrap(value).sum(0) if self.level.has(value) else value * self.level.size

    def jvp(self, ctx: Any, *tangents: Any) -> Any:
        made = self.inside(self.cls.jvp, ctx.inner, *self.wrap(tangents, self.flags))
        made = made if isinstance(made, tuple) else (made,)
        pairs = zip(made, self.out_flags, strict=True)
        level = self.level
        return self.given([None if m is None else all_examples(m, level) if f else level.unwrap(m) for m, f in pairs])


def _generated(cls: Any, level: VmapLevel, args: tuple[Any, ...], kwargs: dict[str, Any], with_setup: bool) -> Any:
    """Call a `Function` on tensors with batch dimension whose methods are those of `cls`, vectorized."""
    from ..function import Function

    methods = _Vectorized(cls, level, args, kwargs)
    body = {
        "forward": staticmethod(methods.forward if with_setup else methods.forward_with_ctx),
        **({"setup_context": staticmethod(methods.setup_context)} if with_setup else {}),
        "backward": staticmethod(methods.backward),
        "jvp": staticmethod(methods.jvp),
        "generate_vmap_rule": True,
    }
    meta: Any = type(Function)
    around = TRANSFORMS.get()
    name = cls.__name__ if around and around[-1].number > level.number else f"Vmapped{cls.__name__}"
    mapped = meta(name, (Function,), body)
    with outside():
        made = mapped.apply(*[level.unwrap(a) for a in args])
    return methods.given(methods.wrap(made if methods.many else (made,), methods.out_flags))
