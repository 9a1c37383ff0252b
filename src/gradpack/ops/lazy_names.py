"""The names that each module of operations gives, which are imported at first use: read from `lazy_names.txt`."""

from __future__ import annotations

from typing import Any


def _read() -> dict[str, tuple[str, ...]]:
    loader: Any = __spec__.loader  # reads from an archive, too
    text = loader.get_data(__file__.removesuffix("py") + "txt").decode()
    rows = (line.partition(": ") for line in text.splitlines() if line[0] != "#")
    return {module: tuple([group.strip() for group in names.split(";")]) for module, _, names in rows}


# module: (functions that gradpack exports, attributes of Tensor, operations)
LAZY = _read()
