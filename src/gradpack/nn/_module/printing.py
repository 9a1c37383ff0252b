"""The `repr` of modules: a name and, in brackets, `extra_repr` and the children."""

from __future__ import annotations


def _addindent(s_: str, numSpaces: int) -> str:
    """Return the text with all lines but the first so many columns to the right."""
    return s_.replace("\n", "\n" + numSpaces * " ")


def bracketed(name: str, extra_lines: list[str], child_lines: list[str]) -> str:
    """`Name(extra)` on one line if that is all there is, else one line for each part."""
    if not child_lines and len(extra_lines) <= 1:
        return f"{name}({''.join(extra_lines)})"
    return f"{name}(\n  " + "\n  ".join([*extra_lines, *child_lines]) + "\n)"
