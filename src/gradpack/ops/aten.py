"""Operations under the names that torch's dispatcher has for them: `torch.ops.aten.mm.default`.

A name of a family (`aten.mm`) is a packet, and `aten.mm.default` one overload of it. Both can be
called. `overload_of` returns the overload that a call of an operation corresponds to, which is
passed to policies of selective checkpointing and other dispatch modes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import Any

from ..base import late
from ..base.exits import block
from ..core.tensor import Tensor
from ..declare.op import REGISTRY, Op
from .aten_overloads import OVERLOADS
from .methods import EXPORTED, MODULE_OF, exported

# Names of operations here -> torch's overloads, where they differ.
_EXTREMES = "max median min nanmedian".split()
_NAMES: dict[str, str] = {
    **{f"_{name}_all": f"{name}.default" for name in _EXTREMES},
    **{name: f"{name}.dim" for name in _EXTREMES},
    **{name: f"{name}.correction" for name in "std std_mean var var_mean".split()},
    **{name: f"_{name}.default" for name in "softmax log_softmax".split()},
    **{f"_{name}": f"{name}.default" for name in "elu embedding softshrink".split()},
    "_attention": "_scaled_dot_product_flash_attention_for_cpu.default",
    "_contiguous": "clone.default",
    "_copied": "copy.default",
    "_dropout": "native_dropout.default",
    "_filled": "fill.Scalar",
    "_layer_norm": "native_layer_norm.default",
    "_mean_dim": "mean.dim",
    "_mean_squared_difference": "mse_loss.default",
    "_pick_rows": "embedding.default",
    "_prelu": "_prelu_kernel.default",
    "_prod_dim": "prod.dim_int",
    "_squared_difference": "mse_loss.default",
    "_sum_dim": "sum.dim_IntList",
    "_take_by_class": "nll_loss_forward.default",
    "_triple": "bmm.default",
    "argsort": "sort.default",
    "clamp": "clamp.Tensor",
    "clamp_to_numbers": "clamp.default",
    "div_rounded": "div.Tensor_mode",
    "index_along": "index.Tensor",
    "index_pair": "index.Tensor",
    "index_fill": "index_fill.int_Scalar",
    "index_fill_tensor": "index_fill.int_Tensor",
    "logsigmoid": "log_sigmoid_forward.default",
    "masked_fill": "masked_fill.Scalar",
    "masked_fill_tensor": "masked_fill.Tensor",
    "newaxis": "unsqueeze.default",
    "outer": "mul.Tensor",
    "reshape": "view.default",
    "rsub": "rsub.Scalar",
    "scatter": "scatter.src",
    "scatter_value": "scatter.value",
    "slice_newaxis": "unsqueeze.default",
    "square": "pow.Tensor_Scalar",
    "sum": "sum.default",
    "sum_to_size": "sum.dim_IntList",
    "where": "where.self",
    "zeros_as": "zeros_like.default",
}

# Operations with a Scalar overload in torch; elsewhere a number counts as a tensor.
_BY_SCALAR = frozenset("eq ne lt le gt ge fmod remainder lerp".split())


class OpOverload:
    """One overload of an operation, such as `torch.ops.aten.mm.default`. Overloads are singletons."""

    __slots__ = ("_opname", "_overloadname", "overloadpacket")

    namespace = "aten"

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket, self._overloadname, self._opname = packet, overload, packet.__name__

    @property
    def __name__(self) -> str:
        return f"{self._opname}.{self._overloadname}"

    def name(self) -> str:
        """As in a schema: `aten::add.Tensor`."""
        suffix = "" if self._overloadname == "default" else "." + self._overloadname
        return f"aten::{self._opname}{suffix}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = _RUNNING.get()
        if call is not None and not kwargs and call.is_of(self, args):
            return call.finish()
        return self.overloadpacket(*args, **kwargs)

    def __reduce__(self) -> Any:  # copying and unpickling return the same object
        return _overload, (self.overloadpacket, self._overloadname)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname}')>"


class Running:
    """A call intercepted by a dispatch mode: calling its overload with the same arguments continues it by `run()`."""

    __slots__ = ("args", "overload", "results", "run")

    def __init__(self, overload: OpOverload, args: list[Any], run: Callable[[], Any]) -> None:
        self.overload, self.args, self.run = overload, args, run
        self.results: tuple[list[Tensor], list[Any]] | None = None  # the result of `run`

    def is_of(self, overload: OpOverload, args: tuple[Any, ...]) -> bool:
        same = overload is self.overload and self.results is None and len(args) == len(self.args)
        return same and all(a is b for a, b in zip(args, self.args, strict=True))

    def finish(self) -> Any:
        self.results = self.run()
        outs = self.results[0]
        return outs[0] if len(outs) == 1 else tuple(outs)


_RUNNING: ContextVar[Running | None] = ContextVar("gradpack dispatched call", default=None)


@block
def running(overload: OpOverload, args: list[Any], run: Callable[[], Any]) -> Iterator[Running]:
    """A context in which calling `overload` with these arguments executes `run()`, once."""
    call = Running(overload, args, run)
    before = _RUNNING.get()
    try:
        _RUNNING.set(call)
        yield call
    finally:
        _RUNNING.set(before)


class OpOverloadPacket:
    """All overloads of an operation, such as `torch.ops.aten.mm`."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        name = self.__name__
        found = OVERLOADS.get(name) or OVERLOADS.get(name.removesuffix("_"), ("default",))
        return [*found, *(() if name.endswith("_") else ("out",))]

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__") or name not in self.overloads():
            raise AttributeError(f"The underlying op of 'aten.{self.__name__}' has no overload name '{name}'")
        return _overload(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = _function(self.__name__)
        if function is None:
            raise NotImplementedError(f"aten::{self.__name__} is a name here and no operation: call what it is part of")
        return function(*args, **kwargs)

    def __reduce__(self) -> Any:
        return _packet, (self.__name__,)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


@cache
def _overload(packet: OpOverloadPacket, name: str) -> OpOverload:
    return OpOverload(packet, name)


# Names of torch's operations that policies mention and that do not exist as operations here.
_FOREIGN = frozenset(
    "_convolution convolution _scaled_dot_product_flash_attention _scaled_dot_product_efficient_attention "
    "_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable _flash_attention_forward "
    "_efficient_attention_forward native_batch_norm _native_batch_norm_legit native_group_norm "
    "convolution_backward _scaled_dot_product_flash_attention_backward "
    "max_pool2d_with_indices _unsafe_view _safe_softmax _scaled_mm _grouped_mm lift_fresh "
    "binary_cross_entropy binary_cross_entropy_with_logits smooth_l1_loss huber_loss".split()
)
_TARGETS = {v.partition(".")[0]: k for k, v in reversed(_NAMES.items())}


def _function(name: str) -> Any:
    """Return the function that a packet of this name calls, or None."""
    from . import aten_functions

    if name in aten_functions.NAMES:
        return getattr(aten_functions, name)
    found = EXPORTED.get(name) or getattr(Tensor, name, None)
    if found is None and name in MODULE_OF:
        found = exported(name)
    if found is None:
        with suppress(KeyError):
            found = REGISTRY[_TARGETS.get(name, name)].public
    return late.aten_function(name) if found is None else found


@cache
def _packet(name: str) -> OpOverloadPacket | None:
    plain = name.removesuffix("_")
    if name.startswith("__"):
        return None
    if name not in _TARGETS and name not in _FOREIGN and _function(name) is None and _function(plain) is None:
        return None
    return OpOverloadPacket(name)


def __getattr__(name: str) -> OpOverloadPacket:
    found = None if name.startswith("__") else _packet(name)
    if found is None:
        raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
    return found


@cache
def _named(full: str) -> OpOverload:
    name, _, overload = full.partition(".")
    packet = _packet(name) or OpOverloadPacket(name)
    return _overload(packet, overload or packet.overloads()[0])


def overload_of(op: Op, values: list[Any]) -> OpOverload:
    """Return the overload that a call of an operation corresponds to. `values` are its arguments in order."""
    name = op.name
    if name in ("matmul", "linear"):
        return _named(_PRODUCTS[name](values))
    if name == "pow":
        numbers = [not isinstance(v, Tensor) for v in values[:2]]
        return _named("pow.Scalar" if numbers[0] else "pow.Tensor_Scalar" if numbers[1] else "pow.Tensor_Tensor")
    if name in _BY_SCALAR and not isinstance(values[2 if name == "lerp" else 1], Tensor):
        return _named(f"{name}.Scalar")
    if name in _BY_SCALAR:
        return _named(f"{name}.Tensor")
    if name in ("any", "all", "squeeze") and len(values) > 1 and values[1] is not None:
        return _named(f"{name}.dim")
    return _named(_NAMES.get(name, name))


def _product(values: list[Any]) -> str:
    a, b = len(values[0].shape), len(values[1].shape)
    if a == b == 1:
        return "dot.default"
    if b == 1:
        return "mv.default"
    return "mm.default" if a <= 2 or b == 2 else "bmm.default"


_PRODUCTS = {
    "matmul": _product,
    "linear": lambda values: "mm.default" if len(values) < 3 or values[2] is None else "addmm.default",
}


def arguments_of(op: Op, values: list[Any]) -> list[Any]:
    """Convert the arguments of an operation to those of its overload: `linear` becomes `mm` or `addmm`."""
    if op.name == "linear":
        weight = values[1].detach().t()
        bias = values[2] if len(values) > 2 else None
        return [values[0], weight] if bias is None else [bias, values[0], weight]
    return values


__all__ = ["OpOverload", "OpOverloadPacket", "arguments_of", "overload_of"]
