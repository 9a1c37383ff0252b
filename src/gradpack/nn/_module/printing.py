"""The `repr` of modules: a name and, in brackets, `extra_repr` and the children."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..modules.module import Module


def _addindent(s_: str, numSpaces: int) -> str:
    """Return the text with all lines but the first so many columns to the right."""
    return s_.replace("\n", "\n" + numSpaces * " ")


def bracketed(name: str, extra_lines: list[str], child_lines: list[str]) -> str:
    """`Name(extra)` on one line if that is all there is, else one line for each part."""
    if not child_lines and len(extra_lines) <= 1:
        return f"{name}({''.join(extra_lines)})"
    return f"{name}(\n  " + "\n  ".join([*extra_lines, *child_lines]) + "\n)"


def module_html(module: Module) -> str:
    """Return what notebooks show: a tree of the modules, with the numbers and bytes of their parameters."""
    return f'<div class="gradpack">{_branch("", module, unfolded=True)}</div>'


def _branch(name: str, module: Module, *, unfolded: bool) -> str:
    from ...base.html import folded
    from ...base.sizes import shown

    children = list(module._modules.items())
    known = [p for p in module.parameters() if not hasattr(p, "materialize")]
    extra = module.extra_repr().replace("\n", ", ")
    label = f"{module._get_name()}({extra})" if extra or not children else module._get_name()
    facts = f"{sum(p.numel() for p in known):,} parameters, {shown(sum(p.nbytes for p in known))}" if known else ""
    few = len(children) <= _FEW
    body = "".join(
        _branch(child, inner, unfolded=few) if inner is not None else folded(f"({child}): None", "", "")
        for child, inner in children
    )
    return folded(f"({name}): {label}" if name else label, facts, body, unfolded=unfolded)


_FEW = 12  # children of a module that are shown unfolded
