"""A hook of MkDocs: files at the root of the repository that are pages of the documentation, too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {"releases.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}


def texts() -> dict[str, str]:
    """Return the pages; links into `docs` are those of the documentation."""
    return {page: re.sub(r"\]\(docs/", "](", (ROOT / name).read_text(encoding="utf-8")) for page, name in PAGES.items()}


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    from mkdocs.structure.files import File, InclusionLevel

    for page, text in texts().items():
        files.append(File.generated(config, page, content=text, inclusion=InclusionLevel.INCLUDED))
    return files
