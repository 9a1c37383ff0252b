"""The page: well-formed, by itself, safe whatever names are in it, and its arithmetic right (where there is node)."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files

import pytest

import gradpack as torch
from gradpack.saved import page as pages
from gradpack.saved import record

VOID = {"meta", "input", "br", "link", "img"}
NODE = shutil.which("node")
EVIL = "</script><script>alert(1)</script><!-- \u2028 & \" '"


class Reader(HTMLParser):
    """Checks that elements close as they opened, and collects them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.found, self.text = [], [], {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open:
            tag, attrs = self.open[-1]
            key = attrs.get("id", tag)
            self.text[key] = self.text.get(key, "") + data


def recorded(title="a run", module="layer"):
    model = torch.nn.Module()
    model.add_module(module, torch.nn.Tanh())
    model.forward = lambda x: model._modules[module](x)
    with record(title) as r:
        (model(torch.ones(64, requires_grad=True)) * 2).sum().backward()
    return r


def test_is_well_formed_and_holds_the_document():
    r = recorded()
    reader = Reader(r.html())
    assert json.loads(reader.text["data"]) == json.loads(json.dumps(r.document()))
    ids = [attrs["id"] for _, attrs in reader.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    script = "".join(files(pages).joinpath(name).read_text() for name in pages.SCRIPTS)
    asked = set(re.findall(r'byId\("([^"]+)"\)', script))
    assert asked <= set(ids), "the script asks for an element that the page does not have"


def test_asks_for_nothing_from_anywhere():
    text = recorded().html()
    reader = Reader(text)
    assert not [attrs for _, attrs in reader.found if {"src", "href"} & attrs.keys()]
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|import\(", text)
    assert re.findall(r"https?://[^\s\"']+", text) == ["http://www.w3.org/2000/svg"], (
        "the name of SVG, which nobody asks for"
    )
    policy = next(attrs["content"] for tag, attrs in reader.found if attrs.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "prefers-color-scheme: dark" in text and "innerHTML" not in text


def test_whatever_names_say_is_text():
    r = recorded(EVIL, EVIL.replace(".", ""))
    reader = Reader(r.html())
    assert [tag for tag, _ in reader.found].count("script") == 2
    assert reader.text["h1"] == EVIL
    assert any(row["module"] == EVIL for row in json.loads(reader.text["data"])["rows"])


def test_calls_are_drawn_if_there_are_any():
    calls = [{"name": "aten::<mul>", "start": 0.0, "duration": 2.0, "children": []}]
    r = recorded()
    assert json.loads(Reader(r.html(flame=calls)).text["data"])["flame"] == calls
    assert "flame" not in json.loads(Reader(r.html()).text["data"])


def test_of_very_many_calls_the_longest_are_drawn():
    def call(duration, *children):
        return {"name": "f", "start": 0.0, "duration": duration, "children": list(children)}

    calls = [call(9, call(5, call(1), call(4)), call(2)), call(3)]
    assert pages.longest(calls, 4) == [call(9, call(5, call(4))), call(3)]
    assert pages.longest(calls, 100) == calls
    assert pages.longest([], 100) == []


def test_numbers_that_json_lacks_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        pages.as_script(float("nan"))


# -- the arithmetic of the pictures --


def node(scripts, expression):
    if NODE is None:
        pytest.skip("there is no node here")
    text = "".join(files(pages).joinpath(name).read_text() for name in scripts)
    done = subprocess.run(
        [NODE, "-e", f"{text}\nconsole.log(JSON.stringify({expression}))"], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_the_scripts_parse():
    node([name for name in pages.SCRIPTS if name != "main.js"], "1")
    if NODE is not None:
        whole = re.search(r"<script>\n(.*)</script>", recorded().html(), re.DOTALL)[1]
        assert not subprocess.run([NODE, "--check", "-"], input=whole, text=True, check=False).returncode


def test_rectangles_fill_the_space_in_proportion():
    sizes = [60, 25, 10, 3, 1, 1]
    found = node(["data.js"], f"squarify({sizes}, 10, 20, 400, 300)")
    assert len(found) == len(sizes)
    for size, (x, y, w, h) in zip(sizes, found, strict=True):
        assert w * h == pytest.approx(400 * 300 * size / 100)
        assert 10 - 1e-6 <= x <= x + w <= 410 + 1e-6
        assert 20 - 1e-6 <= y <= y + h <= 320 + 1e-6
    for i, (x, y, w, h) in enumerate(found):
        for a, b, c, d in found[i + 1 :]:
            assert x + w <= a + 1e-6 or a + c <= x + 1e-6 or y + h <= b + 1e-6 or b + d <= y + 1e-6
    assert max(max(w / h, h / w) for _, _, w, h in found) < 4
    assert node(["data.js"], "squarify([], 0, 0, 9, 9)") == []
    assert node(["data.js"], "squarify([0, 0], 0, 0, 9, 9)") == [[0, 0, 0, 0]] * 2
    assert len(node(["data.js"], "squarify(Array(3000).fill(1), 0, 0, 100, 100)")) == 3000


ROWS = """[
  {op: "exp", slot: "out", kind: "output", module: "a.b", file: "/x/p.py", line: 3, function: "f", dtype: "float32",
   shape: [2, 3], policy: "", tier: "memory", phase: "forward", held: 24, changes: [[1, 24], [5, 0]], until: 5},
  {op: "mul", slot: "input", kind: "input", module: "a.c", file: "/x/p.py", line: 4, function: "f", dtype: "float32",
   shape: [8], policy: "bf16", tier: "memory", phase: "forward", held: 32, changes: [[2, 32]], until: null},
  {op: "mul", slot: "other", kind: "input", module: "", file: "", line: 0, function: "", dtype: "float64",
   shape: [], policy: "", tier: "memory", phase: "backward", held: 0, changes: [], until: null}]"""


def test_the_tree_adds_up_and_boxes_lie_within_boxes():
    text = "(() => { const t = tree(" + ROWS + ", 'module'); return [t.size, sorted(t).map(n => [n.name, n.size]), "
    size, top = node(["data.js", "tree.js"], text + "] })()")
    assert size == 56 and top == [["a", 56]]
    for by in ("module", "op", "line"):
        boxes = node(
            ["data.js", "tree.js"],
            f"layout(tree({ROWS}, '{by}'), 0, 0, 800, 400, 7).map(b => [b.x, b.y, b.w, b.h, b.node.size, b.open])",
        )
        cells = [box for box in boxes if not box[5]]
        assert sum(box[4] for box in cells) == 56
        for x, y, w, h, _, _ in boxes:
            assert -1e-6 <= x <= x + w <= 800 + 1e-6 and -1e-6 <= y <= y + h <= 400 + 1e-6


def test_the_table_filters_and_sorts():
    def ops(arguments):
        return node(["data.js"], f"filter({ROWS}, {arguments}).map(r => r.slot)")

    assert ops("'', '', null, 'module', []") == ["out", "input", "other"]
    assert ops("'MUL float64', '', null, 'module', []") == ["other"]
    assert ops("'p.py:4', '', null, 'module', []") == ["input"]
    assert ops("'2×3', 'output', null, 'module', []") == ["out"]
    assert ops("'', '', 4, 'module', []") == ["out", "input"]
    assert ops("'', '', 5, 'module', []") == ["input"]
    assert ops("'', '', null, 'module', ['a']") == ["out", "input"]
    assert ops("'', '', null, 'line', ['p.py:3']") == ["out"]
    down = node(["data.js"], f"sortRows({ROWS}, r => r.held, true).map(r => r.slot)")
    assert down == ["input", "out", "other"]
    for way in ("true", "false"):
        last = node(["data.js"], f"sortRows({ROWS}, r => r.until, {way}).map(r => r.until)")
        assert last == [5, None, None], "what is not known is last either way"


def test_areas_are_stacked_and_drawn_as_steps():
    assert node(["data.js", "time.js"], "stack([[1, 2], [10, 0]])") == [[[0, 0], [1, 2]], [[1, 2], [11, 2]]]
    path = node(["data.js", "time.js"], "stepPath([0, 1], [0, 0], [2, 4], t => t * 10, v => 100 - v, 3)")
    assert path == "M0.0 98.0H10.0L10.0 96.0H30.0L30.0 100.0H10.0L10.0 100.0H0.0Z"
    bands = (
        "[{kind: 'mask', tier: 'x', bytes: [1]}, {kind: 'input', tier: 'x', bytes: [2]}, {kind: 'mask', bytes: [3]}]"
    )
    merged = node(["data.js", "time.js"], f"inOrder({bands}).map(b => [b.kind, b.bytes])")
    assert merged == [["input", [2]], ["mask", [4]]]
    assert node(["data.js", "time.js"], "[-1, 0, 0.5, 2, 9].map(t => indexAt([0, 1, 2], t))") == [-1, 0, 0, 2, 2]


def test_bars_of_calls():
    calls = "[{name: 'a', start: 0, duration: 10, children: [{name: 'b', start: 5, duration: 5}]}]"
    found = node(["flame.js"], f"bars({calls}, 0, 10).map(b => [b.name, b.x, b.w, b.depth])")
    assert found == [["a", 0, 1, 0], ["b", 0.5, 0.5, 1]]
    assert node(["flame.js"], f"bars({calls}, 5, 10).map(b => [b.name, b.x, b.w])") == [["a", 0, 1], ["b", 0, 1]]
    threads = "[{start: 3, thread: 2}, {start: 1, thread: 1}, {start: 0, thread: 2}]"
    assert node(["flame.js"], f"byThread({threads}).map(g => g.map(c => c.start))") == [[0, 3], [1]]


def test_numbers_for_people():
    assert node(["data.js"], "[0, 1023, 1536, 5e6, 2**40].map(bytes)") == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "4.8 MiB",
        "1.0 TiB",
    ]
    assert node(["data.js"], "[null, 0.0123, 0.5, 12.34, 1500].map(duration)") == [
        "",
        "12.3 µs",
        "0.50 ms",
        "12.3 ms",
        "1.50 s",
    ]
    assert node(["data.js"], "ticks(23, 4, false)") == [0, 10, 20, 30]
    assert node(["data.js"], "ticks(3000, 4, true)") == [0, 1024, 2048, 3072]
    assert node(["data.js"], "ticks(0, 4, true)") == [0]
