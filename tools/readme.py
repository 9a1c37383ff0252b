"""A hook of the build: in the README that the package index shows, links are absolute."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^]]*)]\((?!https?://|#|mailto:)([^)\s]+)\)")


def absolute(text: str, repository: str) -> str:
    """Return a text in which links to files lead to the repository, and pictures come from it."""

    def link(found: re.Match[str]) -> str:
        picture, label, path = found.groups()
        return f"{picture}[{label}]({repository}/{'raw' if picture else 'blob'}/main/{path})"

    return _LINK.sub(link, text)


class Readme(MetadataHookInterface):
    """Gives the README of the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        shown = absolute(text, metadata["urls"]["Repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": shown}
