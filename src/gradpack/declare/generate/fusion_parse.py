"""From an expression on arrays, the loop over blocks that one would write by hand for speed.

NumPy runs one instruction over the whole array before the next, and makes an array for each result.
The text that is made here takes the same steps, in the same order, for 32,768 elements at a time,
with buffers that it uses again: what is between the first step and the last stays in the cache.
Elements are the same to the last bit. That is right for operations of the kind "elementwise".

Helpers of one `return`, after assignments to plain names, are taken apart as well, and so are the
bodies of other operations. What is not understood (loops, conditions on arrays, other functions)
raises `Unknown`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .buffers import BLOCK
from .fusion_answers import Decided, copied
from .fusion_steps import Unknown, Value, Writer

_BINARY = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "true_divide", ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
}  # fmt: skip
_COMPARE = {
    ast.Gt: "greater", ast.GtE: "greater_equal", ast.Lt: "less", ast.LtE: "less_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip
_TESTS = frozenset("isnan isinf isfinite signbit logical_not logical_and logical_or".split())
_FLOATS = frozenset(
    "abs absolute add arctan cos cosh copysign divide exp exp2 expm1 floor fmax fmin log log10 log1p log2 maximum "
    "minimum multiply negative reciprocal sin sinh sqrt square subtract tan tanh trunc ceil rint true_divide".split()
)


_MANY = 6  # buffers, above which blocks are to be shorter
_SIZED = {  # operations whose bodies depend on array sizes: the step to emit and the kind of its result
    "clamp_min": ("maximum", "f"), "clamp_max": ("minimum", "f"), "logical_and": ("logical_and", "?"),
    "logical_or": ("logical_or", "?"), "logical_not": ("logical_not", "?"),
}  # fmt: skip


class Reader:
    """Parse one function: `env` maps its names to values, `outside` are its globals."""

    def __init__(self, writer: Writer, env: dict[str, Value], outside: dict[str, Any], depth: int = 0) -> None:
        self.writer, self.env, self.outside, self.depth = writer, env, outside, depth

    def value(self, node: ast.expr, into: str | None = None) -> Value:
        if self.plain(node):
            return Value("s", self.scalar(node))
        found = getattr(self, "of_" + type(node).__name__.lower(), None)
        if found is None:
            raise Unknown(ast.unparse(node))
        return found(node, into)

    def plain(self, node: ast.AST) -> bool:
        """Return whether an expression contains no array."""
        if isinstance(node, ast.Name):
            return node.id not in self.env or self.env[node.id].kind == "s"
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            return True
        return all(self.plain(n) for n in ast.iter_child_nodes(node))

    def scalar(self, node: ast.expr) -> str:
        if any(isinstance(n, ast.Lambda | ast.comprehension | ast.NamedExpr) for n in ast.walk(node)):
            raise Unknown(ast.unparse(node))
        own = copied(node)
        for name in ast.walk(own):
            if isinstance(name, ast.Name) and name.id in self.env:
                name.id = self.env[name.id].text  # its text is a valid expression anywhere
            elif isinstance(name, ast.Name) and name.id in self.outside:
                name.id = self.writer.known(self.outside[name.id])
        return "(" + ast.unparse(own) + ")"

    def of_name(self, node: ast.Name, into: str | None) -> Value:
        found = self.env[node.id]
        if into is None:
            return found._replace(buffer=False)
        self.writer.line(f"np.copyto({into}, {found.text})")
        return Value(found.kind, into)

    def of_unaryop(self, node: ast.UnaryOp, into: str | None) -> Value:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.USub) and operand.kind == "f":
            return self.writer.step("negative", [operand], "f", into)
        if isinstance(node.op, ast.Invert) and operand.kind == "?":
            return self.writer.step("logical_not", [operand], "?", into)
        raise Unknown(ast.unparse(node))

    def of_binop(self, node: ast.BinOp, into: str | None) -> Value:
        values = [self.value(node.left), self.value(node.right)]
        name = _BINARY.get(type(node.op))
        bools = isinstance(node.op, ast.BitAnd | ast.BitOr)
        if name is None or any(v.kind != "s" and (v.kind == "?") is not bools for v in values):
            raise Unknown(ast.unparse(node))
        if name == "multiply" and values[0].kind == "f" and values[0].text == values[1].text:
            return self.writer.step("square", values[:1], "f", into)
        return self.writer.step(name, values, "?" if bools else "f", into)

    def of_compare(self, node: ast.Compare, into: str | None) -> Value:
        name = _COMPARE.get(type(node.ops[0]))
        if len(node.ops) > 1 or name is None:
            raise Unknown(ast.unparse(node))
        values = [self.value(node.left), self.value(node.comparators[0])]
        self.writer.release(*values)
        target = into or self.writer.buffer("?")
        self.writer.line(f"np.{name}({values[0].text}, {values[1].text}, out={target})")
        return Value("?", target, into is None)

    def of_ifexp(self, node: ast.IfExp, into: str | None) -> Value:
        return self.either(node.test, [ast.Return(node.body)], [ast.Return(node.orelse)], into)

    def of_call(self, node: ast.Call, into: str | None) -> Value:
        function = self.function(node.func)
        name = getattr(function, "__name__", "")
        if function is getattr(np, name, None):
            if name in {"clip", "where"}:
                return getattr(self, name)([self.value(a) for a in node.args], into)
            if node.keywords or (name not in _FLOATS and name not in _TESTS):
                raise Unknown(ast.unparse(node))
            return self.writer.step(name, [self.value(a) for a in node.args], "?" if name in _TESTS else "f", into)
        if not isinstance(function, FunctionType) or self.depth > 8:
            raise Unknown(ast.unparse(node))
        op = getattr(function, "op", None)
        if op is not None and op.name in _SIZED:
            step, kind = _SIZED[op.name]
            return self.writer.step(step, [self.value(a) for a in node.args], kind, into)
        if (op.name if op is not None else name) in ("where", "select"):
            return self.where([self.value(a) for a in node.args], into)
        if name == "limit" and op is None:
            return self.limit([self.value(a) for a in node.args], into)
        return self.inlined(function if op is None else op.forward, node, into)

    def function(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name) and node.id not in self.env:
            return self.outside.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.outside.get(node.value.id)
            if isinstance(module, ModuleType):
                return getattr(module, node.attr, None)
        raise Unknown(ast.unparse(node))

    def clip(self, values: list[Value], into: str | None) -> Value:
        if len(values) != 3 or values[0].kind != "f" or any(v.kind == "?" or v.text == "(None)" for v in values):
            raise Unknown("clip")
        self.writer.release(*values)
        target = into or self.writer.buffer("f")
        self.writer.line(f"_clip({', '.join(v.text for v in values)}, out={target})")
        return Value("f", target, into is None)

    def limit(self, values: list[Value], into: str | None) -> Value:
        """`selection.limit`: a bound of None does not limit."""
        if len(values) != 3 or values[0].kind != "f" or any(v.kind != "s" for v in values[1:]):
            raise Unknown("limit")
        low, high = (v.text for v in values[1:])
        self.writer.release(values[0])
        target = into or self.writer.buffer("f")
        self.writer.line(f"_limit({values[0].text}, {low}, {high}, {target})")
        return Value("f", target, into is None)

    def where(self, values: list[Value], into: str | None) -> Value:
        if len(values) != 3 or values[0].kind != "?" or any(v.kind == "?" for v in values[1:]):
            raise Unknown("where")
        self.writer.masks = True
        target = into or self.writer.buffer("f")  # not that of an operand: it is read after this is written
        self.writer.line(f"_pick({', '.join(v.text for v in values)}, {target}, _mask)")
        self.writer.release(*values)
        return Value("f", target, into is None)

    def inlined(self, function: Callable[..., Any], node: ast.Call, into: str | None) -> Value:
        """Inline a call: the body of the function, with the arguments for its parameters."""
        code, given = statements(function), [self.value(a) for a in node.args]
        named = {k.arg: self.value(k.value) for k in node.keywords if k.arg is not None}
        params = inspect.signature(function).parameters
        env = dict(zip(params, given, strict=False)) | named
        for p, parameter in params.items():
            if p not in env:
                if parameter.default is inspect.Parameter.empty:
                    raise Unknown(p)
                env[p] = Value("s", self.writer.known(parameter.default))
        inner = Reader(self.writer, env, function.__globals__, self.depth + 1)
        result = inner.run(code, into)
        if result.buffer is False and into is None and any(v.buffer and v.text == result.text for v in given):
            return next(v for v in given if v.text == result.text)  # an argument, handed back
        self.writer.release(*given, *named.values())
        return result

    def run(self, code: list[ast.stmt], into: str | None) -> Value:
        """Translate statements that end in a return."""
        mine: dict[str, Value] = {}
        for nr, statement in enumerate(code):
            if isinstance(statement, ast.Return) and statement.value is not None:
                result = self.value(statement.value, into)
                break
            if isinstance(statement, ast.Try):  # an exception makes the caller fall back to the plain body
                result = self.run(statement.body, into)
                break
            if isinstance(statement, ast.If):
                result = self.either(statement.test, statement.body, statement.orelse + code[nr + 1 :], into)
                break
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, source = statement.targets[0], statement.value
            elif isinstance(statement, ast.AugAssign):
                target, source = statement.target, ast.BinOp(_loaded(statement.target), statement.op, statement.value)
            else:
                raise Unknown(ast.unparse(statement))
            if not isinstance(target, ast.Name):
                raise Unknown(ast.unparse(statement))
            made = self.value(source)
            past = [mine.pop(target.id)] if target.id in mine else []
            self.env[target.id] = mine[target.id] = made
            later = {n.id for after in code[nr + 1 :] for n in ast.walk(after) if isinstance(n, ast.Name)}
            past += [mine.pop(name) for name in list(mine) if name not in later]
            alive = {self.env[name].text for name in later if name in self.env}
            self.writer.release(*(v for v in past if v.text not in alive))
        else:
            raise Unknown("a function that returns nothing")
        for v in mine.values():
            if v.text != result.text:
                self.writer.release(v)
            elif v.buffer:
                result = v
        return result

    def either(self, test: ast.expr, yes: list[ast.stmt], no: list[ast.stmt], into: str | None) -> Value:
        """Translate an if-else, to one branch only if the kinds of operands decide the test."""
        test = Decided(self.env).visit(copied(test))
        if isinstance(test, ast.Constant):
            return self.run(yes if test.value else no, into)
        if not self.plain(test):
            raise Unknown(ast.unparse(test))
        kinds = [self.kind_of(branch) for branch in (yes, no)]
        if kinds[0] == kinds[1] == "" or set(kinds) >= {"f", "?"}:
            raise Unknown(ast.unparse(test))
        kind = "?" if "?" in kinds else "f"
        target = into or self.writer.buffer(kind)
        if self.writer.asked:
            return Value(kind, target, into is None)
        for head, branch, understood in ((f"if {self.scalar(test)}:", yes, kinds[0]), ("else:", no, kinds[1])):
            self.writer.line(head)
            self.writer.depth += 1
            if not understood:  # it raises, or cannot be translated
                self.writer.line("raise _Unfit")
            else:
                found = Reader(self.writer, dict(self.env), self.outside, self.depth).run(branch, target)
                if found.kind == "s":
                    self.writer.line(f"{target}.fill({found.text})")
            self.writer.depth -= 1
        return Value(kind, target, into is None)

    def kind_of(self, branch: list[ast.stmt]) -> str:
        """Return the kind of the value that a branch returns; empty if it cannot be translated."""
        try:
            return Reader(Writer(asked=True), dict(self.env), self.outside, self.depth + 1).run(branch, None).kind
        except Unknown:
            return ""


def _loaded(target: ast.expr) -> ast.expr:
    return copied(target)


def statements(function: Callable[..., Any]) -> list[ast.stmt]:
    """The statements of a function, without its docstring."""
    if not isinstance(function, FunctionType) or function.__code__.co_freevars:
        raise Unknown(repr(function))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, SyntaxError, IndexError) as error:
        raise Unknown(function.__name__) from error
    if not isinstance(tree, ast.FunctionDef):
        raise Unknown(function.__name__)
    body = tree.body
    first = body[0]
    return body[1:] if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else body


TEXT = """\
def run({params}, _into=None):
    _n = {first}.size
    _out = np.empty({first}.shape, {dtype}) if _into is None else _into
    _o_all = _out.reshape(-1)
{flat}\
    _size = {bytes} // {first}.itemsize
{buffers}\
    for _i in range(0, _n, _size):
        _e = _i + _size
        if _e > _n:
            _r = _n - _i
{trim}\
{target}\
{slices}\
{steps}\
{back}\
    _give_back(_blocks)
    return _out
"""


def written(
    code: list[ast.stmt], outside: dict[str, Any], params: tuple[str, ...], kinds: str, depth: int
) -> tuple[Writer, Value]:
    """Return the steps for arguments of these kinds, indented `depth` levels, and the result written into `_o`."""
    writer = Writer()
    writer.depth = writer.top = depth
    env = {p: Value(k, f"p_{p}") for p, k in zip(params, kinds, strict=True)}
    result = Reader(writer, env, outside).run(code, "_o")
    if result.kind == "s" or result.text != "_o":
        raise Unknown("a result that is no new array")
    return writer, result


def text_of(
    code: list[ast.stmt], outside: dict[str, Any], params: tuple[str, ...], kinds: str
) -> tuple[str, dict[str, Any]]:
    """The text of the loop for arguments of these kinds, and the names that it uses."""
    writer, result = written(code, outside, params, kinds, 2)
    arrays = [f"p_{p}" for p, k in zip(params, kinds, strict=True) if k != "s"]
    first = f"p_{params[kinds.index('f')]}"
    buffers = [(b, f"{first}.dtype") for b in writer.made["f"]] + [(b, "np.bool_") for b in writer.made["?"]]
    buffers += [("_mask", f"f'i{{{first}.itemsize}}'")] if writer.masks else []
    buffers += [(c, f"{first}.dtype") for c in writer.filled.values()]
    direct = writer.direct()
    more = "" if direct else " + (_into is not None)"
    lines = [f"    _blocks = _borrow({len(buffers)}{more})\n"]
    lines += [f"    {b} = _blocks[{nr}].view({d})[:_size]\n" for nr, (b, d) in enumerate(buffers)]
    dtype = "np.bool_" if result.kind == "?" else f"{first}.dtype"
    if not direct:  # operands are read till the end
        lines += [f"    if _into is not None: _made = _blocks[-1].view({dtype})[:_size]\n"]
    lines += [f"    {c}.fill({text})\n" for text, c in writer.filled.items()]
    lines += [f"    {c} = _number({text}, {first}.dtype)\n" for text, c in writer.numbers.items()]
    text = TEXT.format(
        params=", ".join(f"p_{p}" for p in params),
        first=first,
        dtype=dtype,
        flat="".join(f"    {a}_all = {a}.reshape(-1)\n" for a in arrays),
        bytes=BLOCK if len(buffers) <= _MANY else BLOCK // 2,
        buffers="".join(lines),
        trim="".join(f"            {b} = {b}[:_r]\n" for b, _ in buffers),
        target=f"        _o = _o_all[_i:_e]{'' if direct else ' if _into is None else _made[: _n - _i]'}\n",
        back="" if direct else "        if _into is not None: _o_all[_i:_e] = _o\n",
        slices="".join(f"        {a} = {a}_all[_i:_e]\n" for a in arrays),
        steps="".join(f"{line}\n" for line in writer.lines),
    )
    return text, writer.names


def loop(code: list[ast.stmt], outside: dict[str, Any], params: tuple[str, ...], kinds: str) -> Callable[..., Any]:
    """Compile the statements to a loop over blocks for arguments of these kinds: a function of all of them.

    Args:
        outside: the globals of the function that they are from.

    Raises:
        Unknown: if there is something in them that is not understood.
    """
    text, names = text_of(code, outside, params, kinds)
    exec(compile(text, "<loop>", "exec"), names)
    made: Callable[..., Any] = names["run"]
    return made
