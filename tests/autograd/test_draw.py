"""The picture of a graph: what is in it, and that nothing lies on top of anything else."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import pytest

import gradpack as torch
from gradpack.autograd.drawing.draw import saved_memory
from gradpack.autograd.drawing.draw_layout import lay_out, layers_of
from gradpack.autograd.graph import GraphDrawing, draw

SVG = "{http://www.w3.org/2000/svg}"


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh())
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(self.inner(x) + x) * 2


def labels(picture):
    return [node.label[0] for node in picture.nodes]


def test_nodes_edges_and_bytes():
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        factor = torch.full((3,), 2.0)
    y = x * factor
    picture = draw((y.exp() + y).sum())
    assert labels(picture) == ["SumBackward0", "AddBackward0", "ExpBackward0", "MulBackward0", "AccumulateGrad"]
    assert {(labels(picture)[a], labels(picture)[b]) for a, b in picture.edges} == {
        ("AddBackward0", "SumBackward0"),
        ("ExpBackward0", "AddBackward0"),
        ("MulBackward0", "AddBackward0"),
        ("MulBackward0", "ExpBackward0"),
        ("AccumulateGrad", "MulBackward0"),
    }
    assert [node.saved_bytes for node in picture.nodes] == [0, 0, 12, 12, 0] and picture.saved_bytes == 24
    assert [node.kind for node in picture.nodes] == ["result", "node", "node", "node", "leaf"]
    assert picture.nodes[4].label == ("AccumulateGrad", "(3,)") and picture.nodes[3].label[1] == "saved 12 B"
    assert isinstance(picture, GraphDrawing) and repr(picture) == "<GraphDrawing of 5 nodes and 5 edges, 24 B saved>"


def test_shared_memory_counts_once():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    picture = draw(y.sin() + y[1:].sum() + y.cos())
    assert sum(node.saved_bytes for node in picture.nodes) > picture.saved_bytes == 12


def test_what_hooks_and_functions_keep_counts():
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(4, requires_grad=True)
    assert sum(saved_memory(Keeps.apply(x).grad_fn).values()) == 16
    half = lambda t: t.to(torch.float16)  # noqa: E731
    with torch.autograd.graph.saved_tensors_hooks(half, lambda t: t.to(torch.float32)):
        y = x.sin()
    assert sum(saved_memory(y.grad_fn).values()) == 8
    parts = torch.cat([x, x]).split(4)
    assert draw(parts).saved_bytes == 0
    y = x.exp()
    y.sum().backward()
    assert draw(y).saved_bytes == 0


def test_structures_of_outputs():
    x = torch.ones(3, requires_grad=True)
    picture = draw({"a": [x.sin(), (x.cos(),)], "b": 3, "c": torch.ones(1), "d": x})
    assert labels(picture) == ["SinBackward0", "CosBackward0", "AccumulateGrad"]
    assert [node.kind for node in picture.nodes] == ["result", "result", "leaf"]
    both = torch.ones(4, requires_grad=True).unbind()
    assert labels(draw(both)) == ["UnbindBackward0", "AccumulateGrad"]


def test_modules_name_parameters_and_places():
    model = Block()
    picture = draw(model, torch.ones(2, 4))
    leaves = {node.label[0] for node in picture.nodes if node.kind == "leaf"}
    assert leaves == {name for name, _ in model.named_parameters()}
    places = {node.label[0]: node.module for node in picture.nodes if node.kind != "leaf"}
    assert places["AddmmBackward0"] == "inner.0" and places["TanhBackward0"] == "inner.1"
    assert places["MulBackward0"] == "" == places["AddBackward0"]
    assert leaves == {n.label[0] for n in draw(model(torch.ones(2, 4)), module=model).nodes if n.kind == "leaf"}
    assert not model._forward_hooks and not model.inner[0]._forward_pre_hooks


def test_modules_in_one_box():
    model, x = Block(), torch.ones(2, 4)
    deep = draw(model, x, collapse=True)
    boxes = {node.label[0]: node for node in deep.nodes if node.kind == "module"}
    assert set(boxes) == {"inner.0", "inner.1", "norm"}
    flat = draw(model, x, collapse=1)
    boxes = {node.label[0]: node for node in flat.nodes if node.kind == "module"}
    assert set(boxes) == {"inner", "norm"} and boxes["inner"].nodes == 4
    assert boxes["inner"].label[1] == "2 nodes, 2 leaves" and boxes["norm"].label[1] == "1 node, 2 leaves"
    assert not any(node.kind == "leaf" for node in flat.nodes)
    assert deep.saved_bytes == flat.saved_bytes == draw(model, x).saved_bytes > 0
    assert sum(node.nodes for node in flat.nodes) == len(draw(model, x).nodes)


def test_a_module_that_runs_twice_has_two_boxes():
    class Twice(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        def forward(self, x):
            return self.one(self.two(self.one(x)))

    picture = draw(Twice(), torch.ones(1, 4), collapse=1)
    assert [node.label[0] for node in picture.nodes if node.kind in ("module", "result")] == ["one", "two", "one"]


def test_a_module_that_fails_keeps_no_hooks():
    model = Block()
    with pytest.raises(RuntimeError):
        draw(model, torch.ones(2, 5))
    assert not model._forward_hooks and not model.inner._forward_pre_hooks


def test_what_cannot_be_drawn():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match="not int"):
        draw(3)
    with pytest.raises(RuntimeError, match="no tensor requires grad"):
        draw(torch.ones(2))
    with pytest.raises(ValueError, match="give the module"):
        draw(x * 2, collapse=True)
    with pytest.raises(TypeError, match="for a module only"):
        draw(x * 2, torch.ones(2))


def test_source_for_graphviz(tmp_path):
    x = torch.ones(3, requires_grad=True)
    picture = draw((x * 2).sum(), title='a "title"', saved=False)
    lines = picture.dot.splitlines()
    assert lines[0] == "digraph autograd {" and lines[-1] == "}" and '  label="a \\"title\\"";' in lines
    assert len([line for line in lines if "->" in line]) == len(picture.edges)
    assert "saved" not in picture.dot
    for name in ("graph.dot", "graph.gv"):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_text() == picture.dot
    picture.save(str(tmp_path / "graph.svg"))
    assert (tmp_path / "graph.svg").read_text() == picture.svg == picture._repr_svg_()
    with pytest.raises(ValueError, match=r"\.svg, \.dot or \.gv"):
        picture.save(tmp_path / "graph.png")


def boxes_of(svg):
    """The boxes of a picture, without its background: left, top, right, bottom."""
    root = ET.fromstring(svg)
    found = []
    for group in root.iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        x, y, width, height = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
        found.append((x, y, x + width, y + height))
    return root, found


@pytest.mark.parametrize("collapse", [False, 1])
def test_the_picture(collapse):
    picture = draw(Block(), torch.ones(2, 4), collapse=collapse, title="<Block>")
    root, boxes = boxes_of(picture.svg)
    width, height = float(root.get("width")), float(root.get("height"))
    assert len(boxes) == len(picture.nodes)
    assert all(0 <= left < right <= width + 1 and 0 <= top < bottom <= height + 1 for left, top, right, bottom in boxes)
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "boxes overlap"
    lines = [line.get("points") for line in root.iter(f"{SVG}polyline")]
    assert len(lines) == len(picture.edges)
    for points in lines:
        heights = [float(point.split(",")[1]) for point in points.split()]
        assert heights == sorted(heights), "an edge goes up"
    texts = {text.text for text in root.iter(f"{SVG}text")}
    assert {"<Block>", "norm" if collapse else "norm.weight"} <= texts
    assert "<script" not in picture.svg


def test_large_graphs_are_for_graphviz():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(199):
        y = y + 1
    assert draw(y)._repr_svg_() == draw(y).svg
    picture = draw(y + 1)
    assert len(picture.nodes) == 201 and picture._repr_svg_() is None and len(picture.dot.splitlines()) > 400
    with pytest.raises(ValueError, match="collapse=1"):
        picture.svg


def test_a_graph_is_not_kept_alive():
    import weakref

    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    node = weakref.ref(y.grad_fn)
    picture = draw(y)
    del y
    assert node() is None and picture.svg


def test_layers():
    assert layers_of(4, [(0, 1), (1, 2), (0, 2), (3, 2)]) == [0, 1, 2, 1]
    assert layers_of(0, []) == []
    with pytest.raises(ValueError, match="cycle"):
        layers_of(2, [(0, 1), (1, 0)])


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_have_no_overlaps(seed):
    rng = random.Random(seed)
    count = rng.randrange(1, 60)
    edges = {(rng.randrange(b), b) for b in range(1, count) for _ in range(rng.randrange(4))}
    sizes = [(rng.uniform(10, 120), rng.choice([26.0, 40.0])) for _ in range(count)]
    layout = lay_out(sizes, sorted(edges))
    boxes = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(layout.centres, sizes, strict=True)]
    slack = 1e-6
    for i, a in enumerate(boxes):
        assert a[0] >= -slack and a[2] <= layout.width + slack and a[1] >= 0 and a[3] <= layout.height + slack
        for b in boxes[:i]:
            assert a[2] <= b[0] + slack or b[2] <= a[0] + slack or a[3] <= b[1] or b[3] <= a[1]
    for path in layout.paths:
        assert [y for _, y in path] == sorted(y for _, y in path)


def test_names_of_many_characters_fit():
    x = torch.ones(3, requires_grad=True)
    svg = draw(torch.nn.functional.cross_entropy(x.reshape(1, 3), torch.tensor([1]))).svg
    assert re.search(r"\w+Backward0", svg)
