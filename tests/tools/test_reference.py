"""The reference: every public name has a page with a description, described arguments and an example that runs."""

from __future__ import annotations

import ast
import functools
import pickle
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tools.reference import docstrings, formulas, names, pages, signatures

import gradpack
from gradpack.backends import cupy_loading
from gradpack.compat import hub

GROUPS = names.entries()
ENTRIES = {e.path: e for group in GROUPS.values() for e in group}
OWN = [e for e in ENTRIES.values() if not e.same_as]
all_pages = functools.cache(pages.pages)  # some thousand


def without_example() -> list[str]:
    """Names without an example: forms in place refer to the operation."""
    return sorted(e.path for e in OWN if not e.example)


def without_meaning() -> list[str]:
    """Arguments of which neither the docstring nor the table of common arguments says anything."""
    own = [e for e in OWN if not isinstance(e.value, property)]
    return sorted(f"{e.path}({name})" for e in own for name, text in pages.described(e) if not text)


def test_every_name_has_an_example():
    assert not without_example()


@pytest.mark.parametrize("path", docstrings.kept_apart())
def test_examples_that_are_kept_apart_run(path):
    assert not docstrings.example(ENTRIES[path].value) and not ENTRIES[path].same_as
    assert docstrings.check(path, docstrings.kept_apart()[path]) == ""


def test_links_to_other_names():
    text = pages.page(ENTRIES["nn.Conv2d"], ENTRIES)
    assert "See [`nn.functional.conv2d`](../torch/conv2d.md)" in text and "those of [`Module`](Module-class.md)" in text
    assert "[`torch.max`]" not in pages.page(ENTRIES["max"], ENTRIES)


def test_the_array_api_standard_leads_to_torchs_functions():
    text = pages.page(ENTRIES["array_api.add"], ENTRIES)
    assert "[`gradpack.add`](../torch/add.md)" in text and ">>> import gradpack.array_api as xp\n" in text
    assert ENTRIES["array_api.exp"].same_as == "exp" and ENTRIES["array_api.linalg.inv"].same_as == "linalg.inv"


def test_an_index_in_parts():
    text = all_pages()["api/torch/index.md"]
    part = text.split("## Comparison\n")[1].split("\n## ")[0]
    assert "| [`gt`](gt.md) [`greater`](gt.md)" in part and "`sin`" not in part


def test_names_that_torch_does_not_have():
    assert ENTRIES["saved.budget"].heading == "gradpack.saved.budget"
    assert ENTRIES["saved.budget"].page in all_pages()


def test_every_argument_is_described():
    assert not without_meaning()


def test_every_page_has_a_description():
    assert [e.path for e in OWN if not docstrings.read(e.value).summary] == []


def test_pages_have_paths_of_their_own():
    found = all_pages()
    assert len({path.lower() for path in found}) == len(found) == len(OWN) + len(names.MODULES) + 1


def test_pages_show_nothing_of_pythons_own():
    inside = re.compile(r"ForwardRef|InitVar|attrgetter|^\| `\w+\(?\)?` \| .*-&gt; ", re.MULTILINE)
    assert [path for path, text in all_pages().items() if inside.search(text)] == []


def test_the_page_of_an_enumeration():
    text = pages.page(ENTRIES["profiler.ProfilerAction"], ENTRIES)
    assert "| `RECORD_AND_SAVE` | `3` |" in text


def test_attributes_that_are_arguments_are_told_once():
    text = pages.page(ENTRIES["autograd.profiler.FunctionEvent"], ENTRIES)
    assert "| `start_us` | `float` |" in text and "| `time_range` | an `Interval`" in text
    text = pages.page(ENTRIES["extend.OpInfo"], ENTRIES)
    assert text.count("its parameters, as text") == 1 and "## Attributes" not in text


def test_links_lead_to_pages():
    found = all_pages()
    for path, text in found.items():
        for target in re.findall(r"]\(([\w./-]+\.md)\)", text):
            there = (Path("/") / path).parent / target
            assert str(there.resolve().relative_to("/")) in found, f"{path}: {target}"


def test_the_page_of_an_operation():
    text = pages.page(ENTRIES["add"], ENTRIES)
    assert "# torch.add\n" in text and "gradpack.ops" not in text
    assert "| `other` | `Tensor or Number` |  | the second tensor" in text
    assert "| `other` | `g if alpha == 1 else g * alpha` |" in text
    assert "| `RuntimeError` | for shapes that do not broadcast" in text
    assert ">>> torch.add(" in text and "tensor([31., 42.])" in text and "`torch.Tensor.add_`" in text


def test_no_page_names_an_internal_module():
    inside = re.compile(r"gradpack\.(core|ops|declare|base|kernels|graph)\b")
    found = all_pages()
    assert [path for path, text in found.items() if inside.search(text.split("## Example")[0])] == []


def test_signatures_are_python_and_have_all_parameters():
    for text in signatures.definitions(ENTRIES["nn.functional.conv2d"]):
        ast.parse(f"def {text}: ...")
    texts = signatures.definitions(ENTRIES["optim.Adam"])
    assert [p.name for p in signatures.parameters(texts)][:4] == ["params", "lr", "betas", "eps"]


def test_overloads_and_methods_have_types_and_defaults():
    several = signatures.definitions(ENTRIES["max"])
    assert "    keepdim: bool = False,\n" in several[1] and several[1].endswith(") -> return_types.max")
    assert several[2] == "max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor"
    assert signatures.definitions(ENTRIES["Tensor.view"])[1] == "view(self, *, size: Sequence[int]) -> Tensor"
    assert signatures.definitions(ENTRIES["rot90"]) == [
        "rot90(input: Tensor, k: int = 1, dims: int | Sequence[int] = (0, 1)) -> Tensor"
    ]


def test_the_page_of_a_layer():
    text = pages.page(ENTRIES["nn.GRU"], ENTRIES)
    assert "| `bias` | `bool` | `True` | whether there are biases. |" in text
    assert "| `device` |  | `None` | the device of the parameters" in text
    assert "| `forward(input, hx=None)` | The outputs of the last layer" in text and "extra_repr" not in text
    assert "kernel_size: int | Sequence[int]," in pages.page(ENTRIES["nn.Conv2d"], ENTRIES)
    assert "| `forward(input)` | Return the output for an input. |" in pages.page(ENTRIES["nn.ReLU"], ENTRIES)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("`a / b`", "<mfrac><mrow><mi>a</mi></mrow><mrow><mi>b</mi></mrow></mfrac>"),
        ("`(a + b) * c`", "<mrow><mo>(</mo>"),
        ("`a - (b - c)`", "<mo>−</mo><mrow><mo>(</mo>"),
        ("`x ** (n + 1)`", "<msup><mrow><mi>x</mi></mrow><mrow><mrow><mi>n</mi></mrow><mo>+</mo>"),
        ("`sqrt(x + 1)`", "<msqrt>"),
        ("of `input`: `exp(-t * t)`, for each", "<msup><mi>e</mi>"),
        ("`x` where `x` > 0, else `a * x`.", "<mtext>where x &gt; 0</mtext></mtd></mtr><mtr><mtd><mrow><mrow><mi>a"),
    ],
)
def test_formulas(text, part):
    assert part in formulas.formula(text)


@pytest.mark.parametrize(
    "text",
    [
        "`input`",
        "no code: a + b",
        "`a +`",
        "`f(x, key=1) + 1`",
        "Divides by `1 - p`.",
        "`a * x` below zero, else `b * x`.",
    ],
)
def test_what_is_no_formula(text):
    assert formulas.formula(text) == ""


def test_rules_of_optimizers_are_formulas():
    text = pages.page(ENTRIES["optim.SGD"], ENTRIES)
    assert "`buffer = " not in text and "`parameter -= " not in text
    assert ', the first time <math><mrow><mi mathvariant="normal">buffer</mi></mrow><mo>=</mo>' in text
    taken_off = '<mo>←</mo><mrow><mrow><mi mathvariant="normal">parameter</mi></mrow><mo>−</mo>'
    assert text.count(taken_off) == 2
    kept = "`x = 1`\n- `x`, `f(x, key=1)`, `x +`, or `x = [1]`"
    assert formulas.with_rules(kept) == kept


def test_formulas_are_closed():
    class Reader(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open = []

        def handle_starttag(self, tag, attrs):
            self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    reader, count = Reader(), 0
    for entry in OWN:
        text = "\n\n".join(docstrings.read(entry.value).text)
        drawn = formulas.formula(text) + "".join(re.findall("<math>.*?</math>", formulas.with_rules(text)))
        count += bool(drawn)
        reader.feed(drawn)
    assert not reader.open and count > 90


def test_examples_that_show_something_else_are_found():
    assert docstrings.check("here", ">>> 1 + 1\n2\n") == ""
    assert "Expected" in docstrings.check("here", ">>> 1 + 1\n3\n")


def test_functions_without_effect_have_pages_of_their_own():
    assert not ENTRIES["jit.script"].same_as and not ENTRIES["jit.trace"].same_as
    assert pickle.loads(pickle.dumps(gradpack.jit.trace)).__name__ == "trace"
    assert "| `*args` |  |  | of no effect. |" in pages.page(ENTRIES["jit.trace"], ENTRIES)


@pytest.mark.parametrize("session", [">>> torch.hub.set_dir('here')\n", ">>> torch.manual_seed(1)\n"])
def test_examples_leave_no_trace(session):
    folder, seed = hub.get_dir(), gradpack.initial_seed()
    docstrings.check("here", f">>> import gradpack as torch\n{session}")
    assert (hub.get_dir(), gradpack.initial_seed()) == (folder, seed)


def test_examples_of_cuda_are_those_without_a_device(monkeypatch):
    assert docstrings.check("cuda.name", ">>> 1\n2\n")
    monkeypatch.setattr(cupy_loading, "library", lambda: object())
    assert docstrings.check("cuda.name", ">>> 1\n2\n") == "" != docstrings.check("name", ">>> 1\n2\n")


def test_examples_for_which_a_library_is_missing_are_told():
    session = ">>> import gradpack\n>>> import no_such_library\n>>> if True:\n...     import no_other.part\n"
    assert docstrings.absent(session) == ["no_other", "no_such_library"]
