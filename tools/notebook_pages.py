"""A hook of MkDocs: the notebooks of the documentation as pages, with what their cells show."""

from __future__ import annotations

import ast
import io
import json
import sys
from contextlib import redirect_stdout
from html import escape
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "src")]

import gradpack  # noqa: E402 (MkDocs runs this file by its path)

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run(source: str, names: dict[str, Any]) -> tuple[str, Any]:
    """Run a cell; returns what it prints, and the value of the expression that it ends with."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), value


def page(path: Path) -> str:
    """Return a notebook as Markdown, and run its cells for what they show."""
    names: dict[str, Any] = {"__name__": "__main__"}
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        printed, value = run(source, names)
        if hasattr(value, "_repr_html_"):
            parts.append(f'<div class="shown">{value._repr_html_()}</div>')
        elif printed or value is not None:
            shown = escape(printed if value is None else f"{printed}{value!r}")
            parts.append(f'<div class="shown"><pre>{shown}</pre></div>')
    parts.insert(
        1, f"This page is a notebook: [{path.name}]({path.name}). Below each cell stands what Jupyter shows of it."
    )
    return "\n\n".join(parts) + "\n"


def on_files(files: Any, config: Any) -> Any:
    """Add a page for each notebook."""
    from mkdocs.structure.files import File, InclusionLevel

    state = gradpack.get_rng_state()
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        name = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, name, content=page(path), inclusion=InclusionLevel.INCLUDED))
    gradpack.set_rng_state(state)
    return files
