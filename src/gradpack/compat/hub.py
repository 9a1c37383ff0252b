"""`torch.hub`: models from folders with a `hubconf.py`, and from what was downloaded before. Nothing is downloaded."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib import util
from types import ModuleType
from typing import Any
from urllib.parse import urlparse

from ..base.exits import block

__name__ = "gradpack.hub"
__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the hash in the name of a file
_folder: str | None = None


def get_dir() -> str:
    """Return the folder in which downloads are looked for: `$TORCH_HOME/hub`, `~/.cache/torch/hub` by default."""
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder in which downloads are looked for."""
    global _folder
    _folder = os.path.expanduser(d)


def _get_torch_home() -> str:
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch")))


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Return what a function of the `hubconf.py` in a folder returns.

    Args:
        repo_or_dir: the folder, or `owner/name:ref` of what was downloaded to `get_dir()` before.
        model: the name of the function; the arguments that follow are its own.
        source: "local" for a folder, "github" for a download.

    Raises:
        ValueError: for another source.
        RuntimeError: if there is no such folder or function, or a package is missing that the folder asks for.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    folder = repo_or_dir if source == "local" else _downloaded(repo_or_dir)
    with _importable(folder):
        return _entry(_hubconf(folder), model)(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
) -> Any:
    """Return the names of the functions in the `hubconf.py` of what was downloaded before."""
    folder = _downloaded(github)
    with _importable(folder):
        found = _hubconf(folder)
    return [name for name in dir(found) if callable(getattr(found, name)) and not name.startswith("_")]


def help(
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = "check"
) -> str | None:
    """Return the docstring of a function in the `hubconf.py` of what was downloaded before."""
    folder = _downloaded(github)
    with _importable(folder):
        doc: str | None = _entry(_hubconf(folder), model).__doc__
    return doc


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Refuse to download.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(f"torch.hub: nothing is downloaded here; put what is at {url} into {dst} yourself")


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load the file that was downloaded before: the last part of the address, in `get_dir()/checkpoints`.

    Raises:
        RuntimeError: if there is no such file.
    """
    from ..serialization import load as load_file

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        download_url_to_file(url, path)
    return load_file(path, map_location=map_location, weights_only=weights_only)


def _downloaded(github: str) -> str:
    """The folder of a repository that was downloaded before: of the ref that is given, else `main` or `master`."""
    repository, _, ref = github.partition(":")
    for branch in [ref] if ref else ["main", "master"]:
        folder = os.path.join(get_dir(), "_".join([*repository.split("/"), branch.replace("/", "_")]))
        if os.path.isdir(folder):
            return folder
    raise RuntimeError(
        f"torch.hub: {github} is not in {get_dir()}, and nothing is downloaded here; download it yourself and say "
        "torch.hub.load(folder, model, source='local')"
    )


@block
def _importable(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _hubconf(folder: str) -> ModuleType:
    path = os.path.join(folder, "hubconf.py")
    spec = util.spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None or not os.path.exists(path):
        raise FileNotFoundError(f"torch.hub: there is no {path}")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _entry(module: ModuleType, model: str) -> Any:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    needed = getattr(module, "dependencies", None) or ()
    missing = [name for name in needed if util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function
