"""The text of a page for each public name, and of the indexes."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable
from enum import EnumType
from html import escape
from typing import Any

from gradpack import Tensor, dtype, nn
from gradpack.declare.op import REGISTRY

from . import constants, docstrings, families, searching, signatures
from .arguments import ARGUMENTS, ELEMENTWISE, OF_LAYERS
from .arguments_of_modules import OF_MODULE
from .formulas import formula, with_rules
from .names import MODULES, Entry, entries, index_page, title_of

_BASES = (Tensor, *searching.BASES)  # their methods are not told again on the pages of classes of theirs
_PYTHONS = {"builtins", "collections"}  # what classes inherit from these is known
_KINDS = {"elementwise": "Inputs are broadcast with each other; the result has the shape of that."}


def pages() -> dict[str, str]:
    """Return the text of each page of the reference, by its path below `docs`."""
    groups = entries()
    by_path = {e.path: e for group in groups.values() for e in group}
    found = {"api/index.md": _contents(groups)}
    for module, group in groups.items():
        found[index_page(module)] = _index(module, group, by_path)
        for entry in group:
            if not entry.same_as:
                found[entry.page] = page(entry, by_path)
    return found


def page(entry: Entry, by_path: dict[str, Entry]) -> str:
    """Return the page of a function or class."""
    docs = docstrings.read(entry.value)
    texts = [] if isinstance(entry.value, property) else signatures.definitions(entry)
    kind = "class " if isinstance(entry.value, type) else ""
    place = f"[Reference]({_link(entry.page, 'api/index.md')}) / [{title_of(entry.module)}](index.md)"
    parts = [searching.front_matter(entry, by_path), place, f"# {entry.heading}"]
    if texts:
        parts.append("```python\n" + "\n".join(kind + text for text in texts) + "\n```")
    parts += [with_rules(_block(text)) for text in docs.text]
    drawn = formula("\n\n".join(docs.text))
    if drawn:
        parts.append(f'<div class="formula">{drawn}</div>')
    parts += _arguments(entry, texts)
    if entry.module == "nn" and entry.name in ELEMENTWISE:
        docs.sections["Shape"] = ["input: any.", "output: that of the input."]
    for section, title in (("Attributes", "Attributes"), ("Shape", "Shapes")):
        arguments = {p.name for p in signatures.parameters(texts)}
        items = [(n, t) for n, t in docs.items(section) if not set(n.split(", ")) <= arguments]
        parts += _table(title, ("Name", "Meaning"), [(f"`{n}`", _cell(t)) for n, t in items])
    if isinstance(entry.value, EnumType):
        members: dict[str, Any] = dict(entry.value.__members__)
        parts += _table("Values", ("Name", "Number"), [(f"`{name}`", f"`{m.value}`") for name, m in members.items()])
    if entry.value is dtype:
        parts += _table("Values", ("Name", "Also", "Kind", "Bytes"), constants.dtypes())
    for section in ("Returns", "Yields"):
        if docs.sections.get(section):
            parts += [f"## {section}", _block("\n".join(docs.sections[section]).strip())]
    rows = [(f"`{n}`" if n else "", _cell(t)) for n, t in docs.items("Raises")]
    parts += _table("Errors", ("Exception", "When"), rows)
    if entry.example:
        parts += ["## Example", f"```pycon\n{entry.example}\n```"]
    if entry.value is Tensor:
        parts += ["## Methods", f"All [methods and attributes]({_link(entry.page, index_page('Tensor'))})."]
    elif isinstance(entry.value, type) and entry.module != "Tensor":
        parts += _members(entry.value)
    parts += _gradient(entry)
    if entry.aliases:
        parts += ["## Also as", ", ".join(f"`{a}`" for a in sorted(set(entry.aliases) - {entry.heading}))]
    return "\n\n".join(_linked(part, entry, by_path) for part in parts) + "\n"


_NOT_SEARCHED = {"Also as", "Errors", "Example", "Gradient", "Returns", "Shapes", "Yields"}
_NAMED = re.compile(r"(?<![`\[])(\b(?:[Ss]ee|form of|same as|those of|like) )?`((?:[A-Za-z]\w*\.)*[A-Za-z]\w*)`(?!`)")


def _linked(part: str, here: Entry, by_path: dict[str, Entry]) -> str:
    """Return a part of a page in which the names of other pages lead there."""
    if part.startswith("## ") and part[3:] in _NOT_SEARCHED:
        return f"{part} {{ data-search-exclude }}"
    if part.startswith(("#", "---", "```", "[")):
        return part

    def link(found: re.Match[str]) -> str:
        before, name = found[1] or "", found[2]
        if not (before or "." in name or name[0].isupper()) or (name == "Tensor" and not before):
            return found[0]
        short = re.sub(r"^(torch|gradpack)\.", "", name)
        folder = here.module if short == name else ""
        known = by_path.get(f"{folder}.{short}" if folder else short)
        while known is None and folder:
            folder = folder.rpartition(".")[0]
            known = by_path.get(f"{folder}.{short}" if folder else short)
        target = by_path[known.same_as] if known is not None and known.same_as else known
        if target is None or target is here:
            return found[0]
        return f"{before}[`{name}`]({_link(here.page, target.page)})"

    return _NAMED.sub(link, part)


def described(entry: Entry) -> list[tuple[str, str]]:
    """Return the parameters of a function and what is said of each: empty text where nothing is known."""
    said = _said(docstrings.read(entry.value))
    named = signatures.parameters(signatures.definitions(entry))
    return [(p.name, said.get(p.name.lstrip("*"), _usual(entry, p.name))) for p in named]


def _usual(entry: Entry, name: str) -> str:
    if isinstance(entry.value, type) and issubclass(entry.value, nn.Module) and name in OF_LAYERS:
        return OF_LAYERS[name]
    return OF_MODULE.get(entry.module, {}).get(name) or ARGUMENTS.get(name, "")


def _said(docs: docstrings.Docs) -> dict[str, str]:
    """What a docstring says of each argument, or of the attribute that keeps it; one entry may be about several."""
    found = {}
    for names, text in [*docs.items("Attributes"), *docs.items("Args")]:
        for name in re.split(r", | and ", names):
            found[name.strip().lstrip("*")] = text
    return found


def _arguments(entry: Entry, texts: list[str]) -> list[str]:
    meanings = dict(described(entry))
    rows = []
    for p in signatures.parameters(texts):
        kind = f"`{_no_bar(p.type)}`" if p.type and p.type != "Any" else ""
        default = f"`{_no_bar(p.default)}`" if p.default else ""
        rows.append((f"`{p.name}`", kind, default, _cell(meanings[p.name])))
    return _table("Arguments", ("Name", "Type", "Default", "Meaning"), rows)


def _no_bar(code: str) -> str:
    """Types with `|` between them as words: a bar would end the cell of a table."""
    return code.replace(" | ", " or ").replace("|", "or")


def _gradient(entry: Entry) -> list[str]:
    """What autograd does with an operation: its kind, and the gradient of each input as it is declared."""
    op = REGISTRY.get(entry.name)
    if op is None or getattr(entry.value, "op", None) is not op:
        return []
    from gradpack.extend import get_op_info

    info = get_op_info(entry.name)
    parts = [_KINDS[info.kind]] if info.kind in _KINDS else []
    if info.view:
        parts.append("The result shares the memory of the input.")
    title = ["## Shapes", " ".join(parts)] if parts else []
    if not info.differentiable:
        return [*title, "## Gradient", "There is none: the result does not require gradients."]
    rows = [(f"`{name}`", f"`{_no_bar(text)}`") for name, text in info.formulas.items() if text and "\n" not in text]
    said = _table("Gradient", ("Input", "With `g`, the gradient of the result"), rows)
    return title + said


def _members(value: type) -> list[str]:
    """The methods and properties of a class with what they do; those of a common base are on its page."""
    base = next((b for b in _BASES if issubclass(value, b) and value is not b), object)
    rows = []
    for name in sorted(dir(value)):
        member = inspect.getattr_static(value, name)
        known = getattr(value, name, None)
        owner = next((kind for kind in value.__mro__ if name in vars(kind)), value)
        if name[0] == "_" or member is inspect.getattr_static(base, name, None) or owner.__module__ in _PYTHONS:
            continue
        if isinstance(member, property):
            known = _described_property(value, name)
        if not (callable(known) or isinstance(member, property)) or not inspect.getdoc(known):
            continue
        call = "" if isinstance(member, property) else signatures.call_of(known)
        if known.__doc__ or not hasattr(base, name):
            rows.append((f"`{name}{call}`", _cell(docstrings.read(known).summary.partition("\n\n")[0])))
        elif name == "forward":  # a docstring of its own would say what that of the class says
            rows.append((f"`{name}{call}`", "Return the output for an input."))
    found = _table("Methods", ("Name", "Meaning"), rows)
    if base is not object:
        found.append(f"{'And those' if rows else 'Methods: those'} of `{base.__name__}`.")
    return found


def _described_property(value: type, name: str) -> property | None:
    """Return a property of a class, or the nearest one that it overrides, that has a text; None if there is none."""
    found = (vars(kind).get(name) for kind in value.__mro__)
    return next((p for p in found if isinstance(p, property) and p.__doc__), None)


def _table(title: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    rows = list(rows)
    if not rows:
        return []
    lines = [heads, tuple("---" for _ in heads), *rows]
    return [f"## {title}", "\n".join("| " + " | ".join(line) + " |" for line in lines)]


def _cell(text: str) -> str:
    """Return a text for the cell of a table: one line."""
    return re.sub(r"\s+", " ", _escaped(text)).strip()


def _block(text: str) -> str:
    """Return a paragraph of a docstring; lines that are indented are code."""
    lines = text.splitlines()
    if len(lines) > 1 and all(re.match(r"( {2,}|[-*] )", line) for line in lines):
        return text if lines[0][0] in "-*" else f"```text\n{inspect.cleandoc(text)}\n```"
    return _escaped(text)


def _escaped(text: str) -> str:
    """Return a text in which what is not code means nothing to Markdown; bars in code end no cell."""
    parts = re.split(r"(`+[^`]*`+)", text)
    for at in range(0, len(parts), 2):
        plain = escape(parts[at], quote=False)
        parts[at] = re.sub(r"([\\*_\[\]#])", r"\\\1", plain).replace("|", "&#124;")
    return "".join(parts)


def _link(here: str, there: str) -> str:
    return os.path.relpath(there, os.path.dirname(here)).replace(os.sep, "/")


def _index(module: str, group: list[Entry], by_path: dict[str, Entry]) -> str:
    """Return the page of a module: a row for each function or class, with its other names; long ones in parts."""
    title = title_of(module)
    text = [f"---\ntitle: {title}\n---", f"# {title}", MODULES[module] + "."]
    rows: dict[str, list[Entry]] = {}
    for entry in group:
        rows.setdefault(entry.same_as or entry.path, []).append(entry)
    parts: dict[str, list[tuple[str, str, str]]] = {}
    for path, names in rows.items():
        part = families.part_of(by_path[path].value) if module in families.IN_PARTS else ""
        parts.setdefault(part, []).append(_row(index_page(module), by_path[path], names))
    for part in sorted(parts, key=lambda part: families.order_of(part) if part else 0):
        lines = [("Name", "What it is"), ("---", "---"), *(row[1:] for row in sorted(parts[part]))]
        text += [f"## {part}"] * bool(part)
        text.append("\n".join("| " + " | ".join(line) + " |" for line in lines))
    text += _table("Constants", ("Name", "What it is"), constants.rows(module))
    return "\n\n".join(text) + "\n"


def _row(here: str, target: Entry, names: list[Entry]) -> tuple[str, str, str]:
    """Return the row of an index for the names of one function or class, its own name first, after what sorts it."""
    names.sort(key=lambda e: (e.name != target.name, e.name))
    summary = _cell(re.split(r"(?<=\.) ", docstrings.read(target.value).summary.replace("\n", " "))[0])
    if summary.endswith(":"):  # an example or a formula follows on its own page
        summary = f"{summary[:-1]}."
    return names[0].name, " ".join(f"[`{e.name}`]({_link(here, target.page)})" for e in names), summary


def tables(text: str, here: str, by_path: dict[str, Entry]) -> str:
    """Return a page in which lines of names, after `:::`, are tables of what these are, with links to their pages."""

    def table(found: re.Match[str]) -> str:
        entries = [by_path[path] for path in found[0].split() if path != ":::"]
        rows = [(e.heading, by_path[e.same_as] if e.same_as else e) for e in entries]
        lines = [f"| [`{name}`]({_link(here, e.page)}) | {_row(here, e, [e])[2]} |\n" for name, e in rows]
        return f"| Name | What it is |\n| --- | --- |\n{''.join(lines)}"

    return re.sub(r"(^::: .*\n)+", table, text, flags=re.MULTILINE)


def _contents(groups: dict[str, list[Entry]]) -> str:
    lines = ["# Reference", "", "Every public name, by module. The names are PyTorch's; `import gradpack as torch`", ""]
    lines[2] += " makes them so in a program."
    lines += ["| Module | Names | What is in it |", "| --- | --- | --- |"]
    for module, group in groups.items():
        link = f"[`{title_of(module)}`]({_link('api/index.md', index_page(module))})"
        lines.append(f"| {link} | {len(group)} | {MODULES[module]} |")
    return "\n".join(lines) + "\n"
