"""The hooks of every step of an optimizer, its profile, and programs that record it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..base.modes import MODE
from ..declare.signature.constructors import explained

if TYPE_CHECKING:
    from .optimizer import Optimizer

before_every_step: OrderedDict[int, Any] = OrderedDict()
after_every_step: OrderedDict[int, Any] = OrderedDict()

HOOKS = tuple(
    f"_optimizer_{what}_{side}_hooks" for what in ("step", "state_dict", "load_state_dict") for side in ("pre", "post")
)


def record(name: str) -> Any:
    """Context manager of a profiler range."""
    from ..autograd.profiler import record_function

    return record_function(name)


RECORDERS: list[Any] = []  # of programs, innermost last: `update` takes `(optimizer, step, args, kwargs)`


def with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `step` to call the hooks. If one step calls another (by super()), only the outer one calls them."""

    @wraps(step)
    def hooked_step(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if RECORDERS and RECORDERS[-1].is_ours():
            return RECORDERS[-1].update(self, step, args, kwargs)
        self._opt_called = True  # for schedulers, which warn if they are stepped before the optimizer
        before, after = map(self.__dict__.get, HOOKS[:2])
        if before is None or after is None:
            return step(self, *args, **kwargs)  # of a wrapper that never called `Optimizer.__init__`
        if MODE.get().profiler is not None and not self._in_step and not self._in_profile:
            self._in_profile = True
            try:
                with record(f"Optimizer.step#{type(self).__name__}.step"):
                    return hooked_step(self, *args, **kwargs)
            finally:
                self._in_profile = False
        if self._in_step or not (before or after or before_every_step or after_every_step):
            try:
                return step(self, *args, **kwargs)
            except TypeError as error:
                called = f"{type(self).__name__}.step"
                raise explained(called, (step.__qualname__,), step, kwargs, error) or error from None
        self._in_step = True
        try:
            given: tuple[Any, ...] = (self, *args)
            for hook in (*before_every_step.values(), *before.values()):
                changed = hook(self, given, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            f"a pre-hook of {type(self).__name__}.step must return None or a tuple of (new_args, "
                            f"new_kwargs), but got {changed}."
                        )
                    given, kwargs = changed
            result = step(*given, **kwargs)
            for hook in (*after.values(), *after_every_step.values()):
                hook(self, given, kwargs)
            return result
        finally:
            self._in_step = False

    return hooked_step
