"""A picture of the autograd graph: `gradpack.autograd.graph.draw`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

from ...backends.memory_layout import owner_of
from ...core.memory_tracking import kept_by
from ...core.tensor import Tensor
from ...graph.node import AccumulateGrad, Node, NoGradEdge, OutputSlot, TransformInput, peek_seq, reachable
from ..profiling.table import format_memory
from .draw_layout import Layout, lay_out

LARGE = 200  # the most nodes that `svg` draws

_COLOURS = {"leaf": "#cfe8cf", "result": "#f5d9b0", "module": "#d6d9f2", "node": "#ececec"}
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" \
viewBox="0 0 {width:.1f} {height:.1f}" font-family="monospace" font-size="11">
<defs><marker id="gradpack-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>
<rect width="{width:.1f}" height="{height:.1f}" fill="white"/>"""
_CHARACTER, _LINE = 6.6, 14.0  # the size of text in a picture


@dataclass(frozen=True)
class DrawnNode:
    """A box of a picture.

    Attributes:
        label: the lines in it.
        kind: "node"; "leaf" for AccumulateGrad; "result" for a given output; "module" for several nodes.
        saved_bytes: the bytes of its saved tensors; storage that several boxes share counts in each of them.
        module: the path of the module whose forward made it, "" for none.
        nodes: the number of graph nodes in it.
    """

    label: tuple[str, ...]
    kind: str
    saved_bytes: int
    module: str
    nodes: int = 1


@dataclass
class GraphDrawing:
    """The drawing of a graph, which `draw` returns.

    Attributes:
        nodes: the boxes.
        edges: pairs of indices into `nodes`, in the direction of the forward pass.
        saved_bytes: the bytes of all saved tensors, shared storage counted once.
        title: the caption below the picture; "" for none.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(3, requires_grad=True)
        >>> picture = torch.autograd.graph.draw((x * x).sum(), title="squares")
        >>> [node.label for node in picture.nodes]
        [('SumBackward0',), ('MulBackward0', 'saved 12 B'), ('AccumulateGrad', '(3,)')]
        >>> picture.edges
        [(1, 0), (2, 1)]
        >>> picture.svg[:4], picture.saved_bytes
        ('<svg', 12)
    """

    nodes: list[DrawnNode]
    edges: list[tuple[int, int]]
    saved_bytes: int
    title: str = ""
    _layout: Layout | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def dot(self) -> str:
        """The graph as source text for Graphviz."""
        lines = ["digraph autograd {", "  rankdir=TB;", '  node [shape=box, style=filled, fontname="monospace"];']
        if self.title:
            lines.append(f"  label={_quoted(self.title)};")
        for i, node in enumerate(self.nodes):
            label = "\n".join(node.label)
            lines.append(f"  n{i} [label={_quoted(label)}, fillcolor={_quoted(_COLOURS[node.kind])}];")
        lines += [f"  n{a} -> n{b};" for a, b in self.edges]
        return "\n".join([*lines, "}", ""])

    @property
    def svg(self) -> str:
        """The picture, drawn without Graphviz.

        Raises:
            ValueError: for more than 200 boxes: collapse modules, or give `dot` to Graphviz.
        """
        if len(self.nodes) > LARGE:
            raise ValueError(
                f"a graph of {len(self.nodes)} nodes is not drawn here, where {LARGE} are the most: draw(..., "
                "collapse=1) makes one box of each module, and Graphviz draws `.dot` of any size"
            )
        if self._layout is None:
            self._layout = lay_out([_size(node) for node in self.nodes], self.edges)
        return _svg(self, self._layout)

    def _repr_svg_(self) -> str | None:
        """The picture for notebooks; None, so that they show the text, if it is too large."""
        return None if len(self.nodes) > LARGE else self.svg

    def save(self, path: Any) -> None:
        """Write the picture to a file in `.svg`, or the source for Graphviz to one in `.dot` or `.gv`.

        Raises:
            ValueError: for another name.
        """
        kind = str(path).rpartition(".")[2]
        if kind not in ("svg", "dot", "gv"):
            raise ValueError(f"{path}: a name in .svg, .dot or .gv says what to write")
        text = self.svg if kind == "svg" else self.dot
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __repr__(self) -> str:
        held = format_memory(self.saved_bytes)
        return f"<GraphDrawing of {len(self.nodes)} nodes and {len(self.edges)} edges, {held} saved>"


def draw(
    outputs: Any, *inputs: Any, module: Any = None, collapse: bool | int = False, saved: bool = True, title: str = ""
) -> GraphDrawing:
    """Draw the graph that leads to a tensor, or to the tensors in nested lists, tuples and dicts.

    Args:
        outputs: the tensors whose graph to draw. Or a module, which is called with `inputs`: then boxes name the module
            that made them, and parameters have their names.
        inputs: the arguments that a module in the place of `outputs` is called with.
        module: a module whose parameter names to show, if `outputs` are tensors.
        collapse: True makes one box of the nodes of each call of an innermost module, a number n one of each call
            of a module n levels down, 1 for the children of the outermost. Parameters that no other module uses
            are in the box. Needs a module in the place of `outputs`.
        saved: show in each box the bytes that it saved for backward.
        title: a caption below the picture.

    Returns:
        A `GraphDrawing`: `.svg` and `.dot` are strings, `.save(path)` writes one of them, notebooks show it.

    Raises:
        TypeError: if there are no tensors in `outputs`.
        RuntimeError: if none of them requires grad.
        ValueError: for `collapse` without a module that was called.

    Example::

        >>> import gradpack as torch
        >>> x = torch.ones(3, requires_grad=True)
        >>> picture = torch.autograd.graph.draw((x * 2).exp().sum())
        >>> picture
        <GraphDrawing of 4 nodes and 3 edges, 12 B saved>
        >>> picture.dot.splitlines()[3]
        '  n0 [label="SumBackward0", fillcolor="#f5d9b0"];'
    """
    places: Callable[[Node], str] = lambda node: ""  # noqa: E731
    if hasattr(outputs, "named_parameters"):
        module = outputs
        outputs, places = _called(module, inputs)
    elif inputs:
        raise TypeError(f"draw() takes inputs for a module only, and {type(outputs).__name__} is none")
    elif collapse:
        raise ValueError("draw(module, *inputs, collapse=...) knows modules: give the module in place of its outputs")
    tensors = list(_tensors(outputs))
    if not tensors:
        raise TypeError(f"draw() needs a tensor, or a structure of tensors, not {type(outputs).__name__}")
    edges = [edge for t in tensors if (edge := t._current_edge()) is not None and not _ends(edge)]
    if not edges:
        raise RuntimeError("nothing to draw: no tensor requires grad")
    roots = list(dict.fromkeys(map(_node, edges)))
    names = {} if module is None else {id(p): name for name, p in module.named_parameters()}
    order = [node for node in reachable(roots) if not _ends(node) and not isinstance(node, OutputSlot)]
    groups = [_group(node, places(node), collapse) for node in order]
    return _drawing(order, groups, set(roots), names, places, saved, title)


def _ends(edge: Node | None) -> bool:
    return edge is None or type(edge) in (NoGradEdge, TransformInput)


def _node(edge: Node) -> Node:
    return edge.parent if isinstance(edge, OutputSlot) else edge


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _tensors(item)


def _called(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, Callable[[Node], str]]:
    """Call a module; return its outputs, and a function from a node to the path of the module that made it."""
    spans: list[tuple[int, int, str]] = []  # first node number, the one after the last, and the path
    begun: list[int] = []
    handles = []
    for path, part in module.named_modules():

        def before(*_: Any) -> None:
            begun.append(peek_seq())

        def after(*_: Any, path: str = path) -> None:
            spans.append((begun.pop(), peek_seq(), path))

        handles += [part.register_forward_pre_hook(before), part.register_forward_hook(after, always_call=True)]
    try:
        outputs = module(*inputs)
    finally:
        for handle in handles:
            handle.remove()

    def place(node: Node) -> str:
        number = -node.seq
        inside = [span for span in spans if span[0] <= number < span[1]]
        return min(inside, key=lambda span: span[1] - span[0])[2] if inside else ""

    return outputs, place


def _group(node: Node, path: str, collapse: bool | int) -> str:
    """The path of the module in whose box the node goes; "" for a box of its own."""
    if not collapse or type(node) is AccumulateGrad:
        return ""
    return path if collapse is True else ".".join(path.split(".")[:collapse])


def _drawing(
    order: list[Node],
    groups: list[str],
    roots: set[Node],
    names: dict[int, str],
    places: Callable[[Node], str],
    saved: bool,
    title: str,
) -> GraphDrawing:
    members = _boxes(order, groups)
    box_of = {node: box for box, nodes in enumerate(members) for node in nodes}
    edges: dict[tuple[int, int], None] = {}
    for node in order:
        for edge in node.edges:
            if not _ends(edge):
                pair = box_of[_node(edge)], box_of[node]  # type: ignore[arg-type]
                if pair[0] != pair[1]:
                    edges[pair] = None
    group_of = dict(zip(order, groups, strict=True))
    everything: dict[int, int] = {}
    drawn = []
    for nodes in members:
        held: dict[int, int] = {}
        for node in nodes:
            held.update(saved_memory(node))
        everything.update(held)
        total = sum(held.values())
        path = group_of[nodes[0]]
        kind, label = _label(nodes, path, names)
        if kind != "leaf" and roots.intersection(nodes):
            kind = "result"
        if saved and total:
            label = [*label, f"saved {format_memory(total)}"]
        drawn.append(DrawnNode(tuple(label), kind, total, path or places(nodes[0]), len(nodes)))
    return GraphDrawing(drawn, list(edges), sum(everything.values()), title)


def _boxes(order: list[Node], groups: list[str]) -> list[list[Node]]:
    """The nodes of each box: those that one call of a module made, so that no two boxes lead to each other."""
    group_of = dict(zip(order, groups, strict=True))
    found: list[list[Node]] = []
    open_boxes: dict[str, list[Node]] = {}
    newest = sorted(order, key=lambda node: node.seq)  # newest first: numbers fall; leaves come last
    last = ""
    for node in newest:
        group = group_of[node]
        if not group:
            found.append([node])
            if type(node) is not AccumulateGrad:
                last = ""
            continue
        if group != last or group not in open_boxes:  # another module ran in between: another call
            open_boxes[group] = []
            found.append(open_boxes[group])
        open_boxes[group].append(node)
        last = group
    _take_leaves(order, found, group_of)
    place = {node: i for i, node in enumerate(order)}
    return sorted(filter(None, found), key=lambda nodes: place[nodes[0]])


def _take_leaves(order: list[Node], boxes: list[list[Node]], group_of: dict[Node, str]) -> None:
    """Put leaves that only one module uses into the box of that module."""
    box_of = {node: box for box, nodes in enumerate(boxes) for node in nodes}
    users: dict[Node, set[int]] = {}
    for node in order:
        for edge in node.edges:
            if type(edge) is AccumulateGrad:
                users.setdefault(edge, set()).add(box_of[node])
    for leaf, found in users.items():
        (box, *others) = found
        if not others and group_of[boxes[box][0]]:
            boxes[box_of[leaf]].clear()
            boxes[box].append(leaf)


def _label(nodes: list[Node], path: str, names: dict[int, str]) -> tuple[str, list[str]]:
    node = nodes[0]
    if path:
        leaves = sum(type(n) is AccumulateGrad for n in nodes)
        rest = len(nodes) - leaves
        counts = f"{rest} node{'s' * (rest != 1)}" + f", {leaves} {'leaf' if leaves == 1 else 'leaves'}" * bool(leaves)
        return "module", [path, counts]
    if isinstance(node, AccumulateGrad):
        leaf = node.variable
        name = names.get(id(leaf))
        shape = str(tuple(leaf._shape)) if isinstance(leaf, Tensor) else ""
        return "leaf", ["AccumulateGrad" if name is None else name, shape]
    return "node", [node.settled().name().rpartition("::")[2]]


def saved_memory(node: Node) -> dict[int, int]:
    """The bytes of each storage that a node keeps for backward, by the id of the array that owns it."""
    if type(node) is AccumulateGrad:
        return {}
    return {id(whole): int(whole.nbytes) for whole in map(owner_of, kept_by(node))}


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _size(node: DrawnNode) -> tuple[float, float]:
    return max(map(len, node.label)) * _CHARACTER + 16, len(node.label) * _LINE + 12


def _svg(drawing: GraphDrawing, layout: Layout) -> str:
    extra = 24 if drawing.title else 0
    width = max(layout.width, len(drawing.title) * _CHARACTER + 16)
    high = layout.height + extra
    lines = [_HEAD.format(width=width, height=high)]
    for path in layout.paths:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
        lines.append(f'<polyline points="{points}" fill="none" stroke="#555" marker-end="url(#gradpack-arrow)"/>')
    for node, (x, y) in zip(drawing.nodes, layout.centres, strict=True):
        wide, high = _size(node)
        lines.append(
            f'<g><title>{escape(" ".join((node.module, *node.label)).strip())}</title><rect x="{x - wide / 2:.1f}" '
            f'y="{y - high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="4" fill="{_COLOURS[node.kind]}" '
            'stroke="#777"/>'
        )
        top = y - (len(node.label) - 1) * _LINE / 2 + 4
        for nr, line in enumerate(node.label):
            lines.append(f'<text x="{x:.1f}" y="{top + nr * _LINE:.1f}" text-anchor="middle">{escape(line)}</text>')
        lines.append("</g>")
    if drawing.title:
        title = escape(drawing.title)
        lines.append(f'<text x="{width / 2:.1f}" y="{layout.height + 14:.1f}" text-anchor="middle">{title}</text>')
    return "\n".join([*lines, "</svg>", ""])


__all__ = ["DrawnNode", "GraphDrawing", "draw"]
