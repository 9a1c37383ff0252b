"""Machine code of loops on disk: a file for each loop and types of arguments, a folder for each state of the sources.

There is no index, and a file is replaced in one step, so processes may write at once. A file that is cut off or
otherwise damaged is not used. Nothing here raises: what cannot be kept is compiled again.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any
from uuid import uuid4

import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from ..compilation import NOTICE, cache_folder
from ..dispatch import compiling

_PREFIX, _KEPT = "loops-", 4  # folders of other states that stay: those used last
_DIGEST = sha256().digest_size
COUNTS = {"compiled": 0, "read": 0}  # loops, in this process


class MachineCode(NullCache):  # type: ignore[misc]  # Numba has no types
    """Keeps what Numba makes of one function.

    Args:
        function: the function.
        state: names everything else that its machine code depends on.
    """

    def __init__(self, function: Callable[..., Any], state: str) -> None:
        self.name = function.__name__
        self.key = (function.__module__, self.name, sha256(function.__code__.co_code).hexdigest(), numba.__version__)
        self.state = f"{_PREFIX}{state}-{sys.implementation.cache_tag}"
        self.missed = 0  # compilations in progress

    @property
    def cache_path(self) -> str:
        return str(cache_folder() / self.state)

    def _file(self, signature: Any, codegen: Any) -> Path:
        text = repr((self.key, signature, codegen.magic_tuple()))
        return cache_folder() / self.state / f"{self.name}-{sha256(text.encode()).hexdigest()[:32]}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for these types of arguments; None, for Numba to compile it, if there is none."""
        made = self._read(sig, target_context)
        if made is None:
            self.missed += 1
            NOTICE.start()
        else:
            COUNTS["read"] += 1
        return made

    def _read(self, sig: Any, target_context: Any) -> Any:
        try:
            rtsys.initialize(target_context)  # all that such code needs; what the compiler loads takes 0.3 s more
            data = self._file(sig, target_context.codegen()).read_bytes()
            if sha256(data[_DIGEST:]).digest() != data[:_DIGEST]:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(data[_DIGEST:]))  # noqa: S301 - our own file
        except Exception:  # whatever is wrong with it, it is compiled again
            return None

    def end(self) -> None:
        """Take note that a compilation is over, if there was one."""
        if self.missed:
            self.missed -= 1
            NOTICE.stop()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code for these types of arguments, if there is a folder for it."""
        COUNTS["compiled"] += 1
        if data.lifted or data.library.has_dynamic_globals:
            return
        path = self._file(sig, data.codegen)
        part = path.with_name(f"{uuid4().hex[:16]}.tmp")
        try:
            if not path.parent.is_dir():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                _remove_old(path.parent)
            content = dumps(data._reduce())
            part.write_bytes(sha256(content).digest() + content)
            os.replace(part, path)
        except OSError:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def _remove_old(folder: Path) -> None:
    """Remove what other states have left, up to the few that were written to last."""
    others = [p for p in folder.parent.glob(f"{_PREFIX}*") if p != folder and p.is_dir()]
    for old in sorted(others, key=lambda p: p.stat().st_mtime)[:-_KEPT]:
        rmtree(old, ignore_errors=True)


def keep(dispatcher: Any, state: str) -> None:
    """Let a function of Numba's keep its machine code here, and show its compilation."""
    code = dispatcher._cache = MachineCode(dispatcher.py_func, state)
    compile = dispatcher.compile

    def run(signature: Any) -> Any:
        try:
            return compiling(compile, signature)
        finally:
            code.end()

    dispatcher.compile = run
