"""What is made of a recording: sums, tables, JSON, traces."""

import io
import json
import sys

import pytest

import gradpack as torch
from gradpack import saved
from gradpack.saved import record
from gradpack.saved.recorder.document import Timeline, size


@pytest.fixture(scope="module")
def recorded():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Dropout(0.5), torch.nn.Linear(128, 8)
    )
    with record("a model") as r:
        for _ in range(2):
            torch.nn.functional.mse_loss(model(torch.ones(32, 64)), torch.zeros(32, 8)).backward()
    return r


def test_sums_agree(recorded):
    document = recorded.document()
    peak, rows = document["peak"], {row["id"]: row for row in document["rows"]}
    assert sum(rows[i]["charged"] for i in peak["rows"]) == peak["bytes"] == recorded.peak
    for by in ("by_kind", "by_op", "by_module", "by_line"):
        assert sum(peak[by].values()) == peak["bytes"]
        assert list(peak[by].values()) == sorted(peak[by].values(), reverse=True)
    assert sum(row["charged"] for row in document["rows"]) == document["totals"]["distinct_bytes"]
    assert set(peak["by_module"]) == {"0", "1", "2", "3", ""}
    curve = document["curve"]
    assert max(sum(band["bytes"][i] for band in curve["bands"]) for i in range(len(curve["times"]))) == peak["bytes"]
    assert [band["bytes"][-1] for band in curve["bands"]] == [0] * len(curve["bands"])


def test_what_if(recorded):
    document = recorded.document()
    gains = {w["policy"]: w for w in document["what_if"]}
    assert list(gains) == ["bf16", "int8", "recompute", "disk"]
    assert gains["disk"]["bytes"] == 0 < gains["int8"]["bytes"] < gains["bf16"]["bytes"] < document["peak"]["bytes"]
    assert all(w["ms"] > 0 for w in gains.values() if w["rows"])
    for row in document["rows"]:
        exact = (
            row["exact"]
            or row["kind"] in ("parameter", "mask", "index", "stat")
            or row["dtype"] != "float32"
            or not row["charged"]
        )
        assert (row["what_if"]["bf16"] is None) == exact
        if not exact:
            saved, ms = row["what_if"]["bf16"]
            assert saved == row["charged"] // 2 and ms > 0


def test_what_recompute_drops_is_made_from_what_it_keeps():
    x = torch.ones(100, requires_grad=True)
    w = torch.nn.Parameter(torch.ones(100))
    with record() as r:
        a = x * w
        y = a.sin().cos().sin().cos().sin()
    document = r.document()
    (gain,) = (w for w in document["what_if"] if w["policy"] == "recompute")
    one_by_one = [row for row in document["rows"] if row["what_if"]["recompute"] is not None]
    assert 1 < gain["rows"] < len(one_by_one), "each can be made again, but not all of them at once"
    assert gain["bytes"] == document["peak"]["bytes"] - 400 * gain["rows"]
    del y


def test_json(recorded, tmp_path):
    document = json.loads(recorded.json())
    assert (document["format"], document["version"], document["title"]) == ("gradpack.saved.record", 1, "a model")
    assert document["rows"][0]["file"] == __file__ and document["rows"][0]["line"] > 0
    recorded.write(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["peak"] == document["peak"]
    with pytest.raises(ValueError, match="must end in one of"):
        recorded.write(str(tmp_path / "r.txt"))


def test_trace(recorded, tmp_path):
    recorded.write(tmp_path / "r.trace.json")
    events = json.loads((tmp_path / "r.trace.json").read_text())["traceEvents"]
    times = [event["ts"] for event in events if "ts" in event]
    assert times == sorted(times) and times[0] >= 0
    counters = [event for event in events if event["ph"] == "C"]
    assert {event["name"] for event in counters} == {"saved for backward, memory"}
    assert max(sum(event["args"].values()) for event in counters) == recorded.peak
    assert all(isinstance(v, int) and v >= 0 for event in counters for v in event["args"].values())
    begun = {event["id"]: event["ts"] for event in events if event["ph"] == "b"}
    ended = {event["id"]: event["ts"] for event in events if event["ph"] == "e"}
    assert begun.keys() == ended.keys() and len(begun) == recorded.totals.saves
    assert all(begun[i] <= ended[i] for i in begun)
    spans = [event for event in events if event["ph"] == "X"]
    assert [event["name"] for event in spans] == ["forward", "backward"] * 2
    assert all(event["dur"] >= 0 for event in spans)


def printed(what):
    from rich.console import Console

    console = Console(file=io.StringIO(), width=200)
    console.print(what)
    return console.file.getvalue()


def test_table(recorded):
    text = printed(recorded.table(3))
    assert "tanh.out" in text and "test_record_reports.py:" in text and "What if?" in text
    rows = len(recorded.document()["peak"]["rows"])
    assert f"and {rows - 3} more" in text and text.count("float32") == 3
    assert printed(recorded.table(None)).count("float32") > 3
    with record() as empty:
        pass
    assert "no operation saved a tensor" in printed(empty.table())


def test_names_of_modules_are_no_markup():
    class Odd(torch.nn.Module):
        def forward(self, x):
            return x.exp()

    model = torch.nn.Module()
    model.add_module("[bold]x[/bold]", Odd())
    model.forward = lambda x: model._modules["[bold]x[/bold]"](x)
    with record("[red]") as r:
        y = model(torch.ones(3, requires_grad=True))
    assert "[bold]x[/bold]" in printed(r.table())
    del y


def test_without_rich_the_extra_is_named(recorded, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(ImportError, match=r"gradpack\[cli\]"):
        recorded.table()


# -- the curve --


def test_few_of_many_changes_show_every_peak():
    timeline = Timeline()
    for i in range(20_000):
        timeline.change(("memory", "input"), 1 if i % 2 == 0 else -1, i * 1e-3)
        if i == 12_345:
            timeline.change(("memory", "output"), 1000, i * 1e-3)
            timeline.change(("memory", "output"), -1000, i * 1e-3)
    times, series = timeline.bands(400)
    assert 100 < len(times) <= 500 and times == sorted(times)
    assert (timeline.peak, timeline.peak_at) == (1000, 12.345)
    assert max(map(sum, zip(*series, strict=True))) == 1000
    assert [values[-1] for values in series] == [0, 0]
    assert len(timeline.curve()) == len(timeline) == 20_002


def test_what_is_on_disk_is_apart():
    timeline = Timeline()
    timeline.change(("memory", "input"), 5, 0.0)
    assert not timeline.change(("disk", "input"), 100, 1.0)
    assert (timeline.in_memory, timeline.peak, timeline.curve()) == (5, 5, [(0.0, 5)])
    assert timeline.bands() == ([0.0, 1.0], [[5, 5], [0, 100]])


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (150 << 20, "150 MiB"), (3 << 40, "3.0 TiB")]
)
def test_sizes_for_people(count, text):
    assert size(count) == text


@pytest.mark.parametrize("make", [lambda: saved.recompute(1), lambda: saved.disk(min_bytes=1), saved.bf16])
def test_what_is_held_at_the_peak_adds_up_where_it_comes_and_goes(make):
    policy, x = make(), torch.randn(64, 100, requires_grad=True)
    with record() as r:
        for _ in range(2):
            with policy:
                y = x
                for _ in range(4):
                    y = (y * 1.5).exp().sin()
            if hasattr(policy, "wait"):
                policy.wait()
            y.sum().backward()
    document = r.document()
    peak, rows = document["peak"], document["rows"]
    assert sum(row["held"] for row in rows) == sum(peak["by_op"].values()) == peak["bytes"] > 0
    assert {row["id"] for row in rows if row["held"]} == set(peak["rows"])
    bands = [band["bytes"] for band in document["curve"]["bands"] if band["tier"] != "disk"]
    curve = dict(zip(document["curve"]["times"], map(sum, zip(*bands, strict=True)), strict=True))
    for moment, sizes in curve.items():
        assert sizes == sum(([0] + [now for at, now in row["changes"] if at <= moment])[-1] for row in rows)
    assert all(one["bytes"] >= 0 for one in document["what_if"])


def test_what_a_policy_leaves_as_it_is_was_packed_by_nobody():
    x = torch.randn(64, 100, requires_grad=True)
    with record() as r, saved.recompute() >> saved.bf16().where(op="sin"):
        y = (x * 2).exp().sin().sum()
    y.backward()
    rows = {row.op: row for row in r.rows}
    assert (rows["exp"].policy, rows["exp"].packed_bytes, rows["exp"].charged) == ("", None, 25600)
    assert rows["sin"].policy.startswith("bf16()")
