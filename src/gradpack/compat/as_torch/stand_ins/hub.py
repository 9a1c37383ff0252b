"""`torch.hub`: it may be imported, and downloads nothing."""

from __future__ import annotations

import os
import re

from .refuse import refusals

globals().update(refusals("hub", "load download_url_to_file load_state_dict_from_url load_url list help"))

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the hash in the name of a file that is downloaded

_folder = os.path.join(os.environ.get("TORCH_HOME", os.path.join("~", ".cache", "torch")), "hub")


def get_dir() -> str:
    """The folder in which downloads are looked for."""
    return os.path.expanduser(_folder)


def set_dir(d: str) -> None:
    """Set what `get_dir` says."""
    global _folder
    _folder = d


__all__ = ["get_dir", "set_dir"]
