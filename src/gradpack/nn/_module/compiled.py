"""`Module.compile`: calls of a module run as programs, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base import late

if TYPE_CHECKING:
    from ..modules.module import Module


def compile(self: Module, *args: Any, **kwargs: Any) -> None:
    """Let calls of this module run as programs: its `forward` is given to `torch.compile`, in place.

    Copies and pickles of the module are not compiled. `module.forward.source` is the text of the program.

    Args:
        args: those of `torch.compile`, but for the function.
        kwargs: the same.

    Raises:
        RuntimeError: for an unknown backend.

    Example::

        >>> import gradpack as torch
        >>> layer = torch.nn.Linear(2, 1)
        >>> layer.compile()
        >>> for _ in range(3):
        ...     out = layer(torch.ones(4, 2))
        >>> list(out.shape)
        [4, 1]
    """
    own: Any = self.__dict__
    before = own.get("_compiled_call_impl")
    function = before.function if before is not None and before is own.get("forward") else self.forward
    made = late.compile(function, *args, **kwargs)
    if made is not function:
        own["forward"] = own["_compiled_call_impl"] = made
    elif before is not None:  # not compiled any more
        own.update(get_state(self), _compiled_call_impl=None)
        if own["forward"] is before:
            del own["forward"]


def get_state(self: Module) -> dict[str, Any]:
    """Return the attributes that copies and pickles have: programs stay with this module."""
    own: Any = self.__dict__.copy()
    made = own.pop("_compiled_call_impl", None)
    if made is not None and own.get("forward") is made:
        del own["forward"]
        if getattr(made.function, "__func__", None) is not type(self).forward:
            own["forward"] = made.function
    return own
