"""`nn.modules` is laid out as torch's: the same modules, the same classes in them, and the same bases."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

# What implements something there that is done by operations here.
WITHOUT = {"_functions", "linear_cross_entropy"}
# Names for type checkers, and helpers of code that is not here.
MISSING = (
    "T _V _ConvTransposeMixin _LazyProtocol _WrappedHook _AutoDefault _has_any_global_hook _forward_unimplemented "
    "_check_arg_device _arg_requires_grad _is_make_fx_tracing _apply_permutation apply_permutation _AUTO_FALLBACK "
    "_get_seq_len _get_clones"
).split()
MODULES = [m.name for m in pkgutil.iter_modules(import_module("torch.nn.modules").__path__) if m.name not in WITHOUT]


def own(module: ModuleType) -> dict[str, object]:
    """What a module defines itself."""
    return {n: v for n, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_holds_what_it_holds_in_torch(name: str) -> None:
    theirs, ours = (import_module(f"{library}.nn.modules.{name}") for library in ("torch", "gradpack"))
    wanted = {n: v for n, v in own(theirs).items() if n not in MISSING}
    assert not set(wanted) - set(vars(ours)), "names that are not there"
    assert set(getattr(ours, "__all__", ())) == set(getattr(theirs, "__all__", ()))
    for n, there in wanted.items():
        if inspect.isclass(there):
            assert getattr(ours, n).__module__ == ours.__name__
            bases = [b.__name__ for b in there.__mro__ if b.__module__.startswith("torch.nn")]
            here = [b.__name__ for b in getattr(ours, n).__mro__]
            assert [b for b in here if b in bases] == bases, f"other bases of {n}"
