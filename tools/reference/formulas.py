"""Formulas of docstrings as MathML, which browsers draw without a script."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from html import escape
from typing import Any, cast

GREEK = dict(
    zip(
        "alpha beta gamma delta eps epsilon lambd lambda_ mu sigma tau theta rho pi inf Phi".split(),
        "α β γ δ ε ε λ λ μ σ τ θ ρ π ∞ Φ".split(),
        strict=True,
    )
)
_SIGNS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "−", ast.Mult: "·", ast.MatMult: "", ast.Mod: "mod", ast.BitAnd: "∧", ast.BitOr: "∨",
    ast.BitXor: "⊻", ast.LShift: "≪", ast.RShift: "≫", ast.USub: "−", ast.UAdd: "+", ast.Invert: "¬", ast.Not: "¬",
    ast.Lt: "&lt;", ast.LtE: "≤", ast.Gt: "&gt;", ast.GtE: "≥", ast.Eq: "=", ast.NotEq: "≠", ast.And: "∧",
    ast.Or: "∨",
}  # fmt: skip
_WEIGHT: dict[type, int] = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Mod: 2, ast.USub: 2, ast.Pow: 4}
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


# What stands around code that says all of what a function does, rather than a part of it, or one case of several.
_BEFORE = re.compile(r"(^|\n\n|: |\b(with|difference|network|density|density is|proportional to) )$")
_AFTER = re.compile(
    r"(?![^.]*\b(where|else|elsewhere|below|above|pairs|up to)\b)"
    r"([.,:;\n]|$| (along|over|batched|of|element|for|with|in|at)\b)"
)


# Two cases, as in "`x` where it is positive, else `slope * x`": the first formula, when it holds, and the other one.
_CASES = re.compile(r"(?:^|\n\n)`([^`\n]+)` where ([^.]+?), else `([^`\n]+)`")


def formula(text: str) -> str:
    """Return the first formula in a text as MathML; empty if there is none, or none that can be drawn."""
    cases = _CASES.search(text)
    if cases:
        return _two_cases(*cases.groups())
    for found in _CODE.finditer(text):
        code = re.sub(r"\|([^|]+)\|", r"abs(\1)", found[1]).replace("^", "**")
        code = re.sub(r"(?<=\)) = ", " == ", code)  # of a probability, which Python assigns nothing to
        if not _BEFORE.search(text[: found.start()]) or not _AFTER.match(text[found.end() :]):
            continue
        try:
            tree = ast.parse(code).body
        except SyntaxError:
            continue
        if len(tree) != 1 or not isinstance(tree[0], ast.Expr | ast.Assign):
            continue
        if not any(isinstance(n, ast.BinOp) for n in ast.walk(tree[0])):
            continue
        try:
            return f'<math display="block">{_statement(tree[0])}</math>'
        except NotImplementedError:
            continue
    return ""


def with_rules(text: str) -> str:
    """Return a text in which assignments among the items of lists are MathML: the rules of an optimizer."""

    def drawn(found: re.Match[str]) -> str:
        try:
            (rule,) = ast.parse(found[1]).body
            if isinstance(rule, ast.AugAssign):
                rule = ast.Assign([rule.target], ast.BinOp(rule.target, rule.op, rule.value))
            return f"<math>{_statement(rule)}</math>" if isinstance(rule, ast.Assign) else found[0]
        except (SyntaxError, ValueError, NotImplementedError):
            return found[0]

    return "\n".join(_CODE.sub(drawn, line) if line.startswith("- ") else line for line in text.split("\n"))


def _two_cases(first: str, when: str, second: str) -> str:
    """Return a brace with two lines; empty if one of them is no expression."""
    try:
        drawn = [_row(ast.parse(code, mode="eval").body) for code in (first, second)]
    except (SyntaxError, NotImplementedError):
        return ""
    said = escape(re.sub(r"\s+", " ", when.replace("`", "")))
    lines = zip(drawn, (f"where {said}", "elsewhere"), strict=True)
    rows = "".join(f"<mtr><mtd>{row}</mtd><mtd><mtext>{text}</mtext></mtd></mtr>" for row, text in lines)
    return f'<math display="block"><mrow><mo>{{</mo><mtable columnalign="left left">{rows}</mtable></mrow></math>'


def _statement(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        names = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        signs = ["←" if isinstance(t, ast.Name) and t.id in names else "=" for t in node.targets]  # a new value, or not
        targets = zip(node.targets, signs, strict=True)
        return "".join(f"{_row(t)}<mo>{sign}</mo>" for t, sign in targets) + _row(node.value)
    return _row(cast("ast.Expr", node).value)


def _name(name: str) -> str:
    if name in GREEK:
        return f"<mi>{GREEK[name]}</mi>"
    stem = re.fullmatch(r"([A-Za-z]+?)_?(\d+)", name)
    if stem and stem[1] in {*GREEK, "x", "y", "weight", "input", "dim"}:
        return f"<msub>{_name(stem[1])}<mn>{stem[2]}</mn></msub>"
    return f"<mi>{name}</mi>" if len(name) == 1 else f'<mi mathvariant="normal">{escape(name)}</mi>'


def _row(node: ast.expr, inside: int = 0) -> str:
    """Return an expression; in parentheses if it binds less than what is around it."""
    draw = _DRAWN.get(type(node))
    if draw is None:
        raise NotImplementedError(ast.dump(node))
    weight = _WEIGHT.get(type(getattr(node, "op", None)), 9)
    if isinstance(node, ast.Compare | ast.BoolOp):
        weight = 0
    text = draw(node)
    return f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>" if weight < inside else f"<mrow>{text}</mrow>"


def _binary(node: ast.BinOp) -> str:
    kind = type(node.op)
    if kind in {ast.Div, ast.FloorDiv}:
        text = f"<mfrac>{_row(node.left)}{_row(node.right)}</mfrac>"
        return f"<mo>⌊</mo>{text}<mo>⌋</mo>" if kind is ast.FloorDiv else text
    if kind is ast.Pow:
        base = _row(node.left, 5)
        if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Div):
            base = f"<mrow><mo>(</mo>{base}<mo>)</mo></mrow>"
        return f"<msup>{base}{_row(node.right)}</msup>"
    weight = _WEIGHT.get(kind, 1)
    right = _row(node.right, weight + (kind is ast.Sub))
    return f"{_row(node.left, weight)}<mo>{_SIGNS[kind]}</mo>{right}"


def _call(node: ast.Call) -> str:
    if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        raise NotImplementedError(ast.dump(node))
    name = ast.unparse(node.func).rpartition(".")[2]
    arguments = [_row(a) for a in node.args]
    if len(arguments) == 1:
        (only,) = arguments
        if name == "exp":
            return f"<msup><mi>e</mi>{only}</msup>"
        if name == "sqrt":
            return f"<msqrt>{only}</msqrt>"
        if name == "abs":
            return f"<mo>|</mo>{only}<mo>|</mo>"
        if name == "sum":
            return f"<mo>∑</mo>{_row(node.args[0], 2)}"
    return f"{_row(node.func)}<mo>(</mo>{'<mo>,</mo>'.join(arguments)}<mo>)</mo>"


def _attribute(node: ast.Attribute) -> str:
    raised = {"T": "T", "mT": "T", "H": "H", "mH": "H"}.get(node.attr)
    if raised:
        return f"<msup>{_row(node.value, 5)}<mi>{raised}</mi></msup>"
    if isinstance(node.value, ast.Name) and node.value.id in {"torch", "math", "np"}:
        return _name(node.attr)
    return f"{_row(node.value)}<mo>.</mo>{_name(node.attr)}"


def _constant(node: ast.Constant) -> str:
    if isinstance(node.value, complex):
        return f"<mn>{node.value.imag:g}</mn><mi>i</mi>" if node.value.imag != 1 else "<mi>i</mi>"
    if isinstance(node.value, int | float):
        return f"<mn>{node.value}</mn>"
    raise NotImplementedError(ast.dump(node))


def _comparison(node: ast.Compare) -> str:
    parts = [_row(node.left, 1)]
    for sign, value in zip(node.ops, node.comparators, strict=True):
        if type(sign) not in _SIGNS:
            raise NotImplementedError(ast.dump(node))
        parts += [f"<mo>{_SIGNS[type(sign)]}</mo>", _row(value, 1)]
    return "".join(parts)


_DRAWN: dict[type, Callable[[Any], str]] = {
    ast.BinOp: _binary,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Constant: _constant,
    ast.Compare: _comparison,
    ast.Name: lambda node: _name(node.id),
    ast.UnaryOp: lambda node: f"<mo>{_SIGNS[type(node.op)]}</mo>{_row(node.operand, 2)}",
    ast.Subscript: lambda node: f"<msub>{_row(node.value, 5)}{_row(node.slice)}</msub>",
    ast.Tuple: lambda node: "<mo>,</mo>".join(_row(e) for e in node.elts),
    ast.BoolOp: lambda node: f"<mo>{_SIGNS[type(node.op)]}</mo>".join(_row(v, 1) for v in node.values),
}
