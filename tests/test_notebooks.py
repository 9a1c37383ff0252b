"""What notebooks show of tensors, modules, recordings, plans and profiles: well-formed HTML that tells the facts."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest

import gradpack as torch
from gradpack import nn, saved

WITHOUT_END = {"br", "hr", "img"}


class Page(HTMLParser):
    """Reads a page; fails if elements are not closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.text, self.tags = [], [], "", []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in WITHOUT_END:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_a_matrix_is_a_table():
    x = torch.tensor([[1.0, 2.5], [-3.0, float("nan")]], requires_grad=True)
    page = Page(x._repr_html_())
    assert page.rows == [["", "0", "1"], ["0", "1.0000", "2.5000"], ["1", "-3.0000", "nan"]]
    for fact in ("tensor", "2 × 2", "gradpack.float32", "cpu", "16 B", "requires_grad=True"):
        assert fact in page.text
    assert "grad_fn=<MulBackward0>" in Page((x * 2)._repr_html_()).text


def test_a_long_tensor_shows_its_edges():
    page = Page(torch.arange(1000)._repr_html_())
    assert page.rows == [["0", "1", "2", "…", "997", "998", "999"]] * 2
    page = Page(torch.zeros(100, 2)._repr_html_())
    assert [row[0] for row in page.rows] == ["", "0", "1", "2", "⋮", "97", "98", "99"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.tensor(3.0),
        lambda: torch.ones(2, 3, 4),
        lambda: torch.ones(0, 3),
        lambda: torch.ones(2, dtype=torch.bool),
        lambda: torch.ones(2, 2, dtype=torch.bfloat16),
        lambda: torch.ones(2, dtype=torch.complex64),
        lambda: torch.ones(2, 2).to_sparse(),
        lambda: torch.ones(2, 2, device="meta"),
        lambda: nn.Parameter(torch.ones(2)),
    ],
)
def test_every_tensor_has_a_page(make):
    x = make()
    page = Page(x._repr_html_())
    assert str(x.dtype) in page.text and x.requires_grad == ("requires_grad" in page.text)


def test_inside_of_transforms_a_tensor_is_told_as_by_repr():
    seen = []

    def square(x):
        seen.append((x._repr_html_(), repr(x)))
        return x * x

    torch.func.vmap(square)(torch.ones(3, 2))
    ((text, told),) = seen
    assert told in Page(text).text


def test_looking_at_a_tensor_changes_nothing():
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 2
    version, node = y._version, y.grad_fn
    y._repr_html_()
    assert y._version == version and y.grad_fn is node
    y.sum().backward()
    assert x.grad is not None


def test_a_module_is_a_tree():
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias=False)))
    page = Page(model._repr_html_())
    assert "Sequential" in page.text and "24 parameters, 96 B" in page.text
    assert "(0): Linear(in_features=3, out_features=4, bias=True) 16 parameters, 64 B" in page.text
    assert [tag for tag, _ in page.tags].count("details") == 2
    Page(nn.Linear(2, 2)._repr_html_())
    Page(nn.LazyLinear(3)._repr_html_())


class Odd(nn.Module):
    def extra_repr(self):
        return "<script>alert(1)</script>"


def test_text_of_users_is_no_html():
    text = Odd()._repr_html_()
    assert "<script>" not in text and "<script>alert(1)</script>" in Page(text).text


def test_a_recording_shows_the_largest_tensors_and_the_bytes_over_time():
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2))
    with saved.record() as record:
        loss = model(torch.ones(4, 8)).sum()
    page = Page(record._repr_html_())
    assert page.rows[0] == ["bytes", "module", "operation", "slot", "shape", "dtype", "policy", "line"]
    assert len(page.rows) > 2 and any(row[1] == "1" and "gelu" in row[2].lower() for row in page.rows[1:])
    assert any(tag == "polygon" for tag, _ in page.tags)
    assert f"{record.totals.saves} saves" in page.text
    loss.backward()
    assert "0 B now" in Page(record._repr_html_()).text


def test_an_empty_recording_says_so():
    with saved.record() as record:
        torch.ones(2) * 2
    assert "no operation saved a tensor" in Page(record._repr_html_()).text


def test_a_plan_is_a_table_of_ways():
    model = nn.Sequential(nn.Linear(8, 64), nn.GELU(), nn.Linear(64, 2))
    x = torch.ones(64, 8)
    budget = saved.budget("20 KiB")
    for _ in range(2):
        with budget:
            loss = model(x).sum()
        loss.backward()
    page = Page(budget.plan._repr_html_())
    explained = budget.plan.explain()
    assert [row[2] for row in page.rows[1:]] == [one.chosen for one in explained]
    assert str(budget.plan).splitlines()[0].split(",")[0] in page.text


@pytest.mark.parametrize("profile", [torch.profiler.profile, torch.autograd.profiler.profile])
def test_a_profile_is_a_table_with_what_took_longest_first(profile):
    made = profile()
    assert made._repr_html_() is None
    with made:
        torch.ones(3, requires_grad=True).exp().sum().backward()
    page = Page(made._repr_html_())
    assert page.rows[0][0] == "Name" and "aten::exp" in {row[0] for row in page.rows[1:]}
    times = [event.self_cpu_time_total for event in made.key_averages()]
    assert len(page.rows) == len(times) + 1
    assert page.rows[1][0] == max(made.key_averages(), key=lambda event: event.self_cpu_time_total).key
    Page(made.events()._repr_html_() if profile is torch.profiler.profile else made.function_events._repr_html_())


def test_nothing_of_it_is_imported_before_a_notebook_asks():
    code = "import gradpack, sys; assert not [n for n in sys.modules if n.startswith('gradpack') and 'html' in n]"
    subprocess.run([sys.executable, "-c", code], check=True)
