"""Attaches the operations to `Tensor`, and collects the names that `gradpack` exports.

Each module of operations says, as data at its top or bottom, what it gives: FUNCTIONS, METHODS,
INPLACE, ALIASES, OPERATORS, REFLECTED, INPLACE_OPERATORS.
"""

from __future__ import annotations

from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from ..declare.op import PUBLIC, REGISTRY
from ..declare.variants import add_method, inplace_of, inplace_operator_of, operator_of, reflected_of
from ..tensor.tensor import Tensor

# An in-place function is exported where the function itself is by then: `fill_random` after `random`.
_NAMES = (
    "activation affine arithmetic arrange attention compare convert create cumulate diagonal dropout einsum "
    "embedding exponential extremes fill generator index index_dim inplace_functions join linalg loss masked normalize "
    "predicates random fill_random put reduce relayout rounding scatter scatter_reduce shape softmax strided "
    "transpose trigonometry "
    "avg_pool batch_norm convolution embedding_bag fold grid_sample group_norm max_pool padding "
    "bessel binary_numbers gamma_functions spectrogram windows integrate quantiles unique bins search "
    "index_reduce copies layout segments"
)
MODULES: tuple[ModuleType, ...] = tuple(import_module(f".{name}", __package__) for name in _NAMES.split())

EXPORTED = PUBLIC


def _words(module: ModuleType, name: str) -> list[str]:
    return getattr(module, name, "").split()


def _method(module: ModuleType, name: str) -> Any:
    return getattr(module, f"_method_{name}", None) or getattr(module, name)


def attach() -> None:
    """Attach everything. Called once, when gradpack is imported."""
    for module in MODULES:
        for name in _words(module, "FUNCTIONS"):
            EXPORTED[name] = getattr(module, name)
        for name in _words(module, "METHODS"):
            add_method(name, _method(module, name))
        for name in _words(module, "INPLACE"):
            own = getattr(module, f"_method_{name}", None)
            add_method(name, own or inplace_of(REGISTRY[name.removesuffix("_")]))
            function = vars(Tensor)[name]
            if name.removesuffix("_") in EXPORTED:
                EXPORTED.setdefault(name, function)
        for table, make in (
            ("OPERATORS", operator_of),
            ("REFLECTED", reflected_of),
            ("INPLACE_OPERATORS", inplace_operator_of),
        ):
            for name, target in getattr(module, table, {}).items():
                value = target
                if isinstance(target, str):
                    value = make(REGISTRY[target], name) if target in REGISTRY else getattr(module, target)
                if name in vars(Tensor) and isinstance(vars(Tensor)[name], FunctionType):
                    raise TypeError(f"Tensor.{name} is given twice")
                setattr(Tensor, name, value)
        for name, target in getattr(module, "ALIASES", {}).items():
            if target in EXPORTED:
                EXPORTED[name] = EXPORTED[target]
            if target in vars(Tensor):
                add_method(name, vars(Tensor)[target])
            if target + "_" in vars(Tensor):
                add_method(name + "_", vars(Tensor)[target + "_"])
                EXPORTED.setdefault(name + "_", vars(Tensor)[target + "_"])
