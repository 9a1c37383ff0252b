"""The blocks of code in README, CONTRIBUTING and docs/."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page: str, *languages: str) -> list[str]:
    """The blocks of a page in the order of reading; of all languages if none is given."""
    found = _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    return [text for language, text in found if not languages or language in languages]


def printed(page: str, block: str) -> str | None:
    """What the page says that a block prints: the block of text that follows at once. None if there is none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.match(r"```\n\n```text\n(.*?)^```", text[text.index(block) + len(block) :], re.DOTALL | re.MULTILINE)
    return None if found is None else found[1]


def is_fragment(block: str) -> bool:
    """Whether the block says that it does not run by itself."""
    return block.startswith("# A fragment")


def is_for_torch(block: str) -> bool:
    """Whether the block is of PyTorch itself: tests/oracle runs those."""
    return block.startswith("import torch\n")


PAGES = sorted(
    name
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if blocks(name := str(path.relative_to(ROOT).as_posix()))
)
