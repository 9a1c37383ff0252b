"""Exceptions of other processes."""

from __future__ import annotations

import sys
import traceback
from typing import Any, NoReturn


class KeyErrorMessage(str):
    """A text that KeyError shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """An exception of another process, with its traceback as text."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        kind, error, trace = sys.exc_info() if exc_info is None else exc_info
        self.exc_type: Any = kind
        self.exc_msg = "".join(traceback.format_exception(kind, error, trace))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise an exception of the same class whose message is the traceback; RuntimeError if it cannot be made."""
        text = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=text)
        try:
            made = self.exc_type(text)
        except Exception:  # it wants other arguments
            raise RuntimeError(text) from None
        raise made
