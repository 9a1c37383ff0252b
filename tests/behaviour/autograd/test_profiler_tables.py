"""What a profiler found as averages, as a table, as text."""

from __future__ import annotations

import re

import pytest

from tests.behaviour.autograd.test_profiler import named


def test_averages(torch, profiler):
    with profiler.profile(record_shapes=True) as prof:
        for n in (2, 2, 3):
            torch.ones(n).exp()
    (average,) = [a for a in prof.key_averages() if a.key == "aten::exp"]
    events = named(prof, "aten::exp")
    assert average.count == 3 == len(events) and average.input_shapes == ""
    assert average.cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in events))
    assert average.cpu_time == pytest.approx(average.cpu_time_total / 3)
    shaped = {str(a.input_shapes): a.count for a in prof.key_averages(True) if a.key == "aten::exp"}
    assert shaped == {"[[2]]": 2, "[[3]]": 1}
    total = prof.total_average()
    assert total.key == "Total" and total.count == len(prof.function_events)
    assert prof.self_cpu_time_total == pytest.approx(total.self_cpu_time_total)
    assert prof.self_cpu_time_total == pytest.approx(
        sum(e.cpu_time_total for e in prof.function_events if not e.cpu_parent)
    )


def test_averages_are_of_one_key(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(2).exp()
        torch.ones(2).sin()
    first, second = named(prof, "aten::exp")[0], named(prof, "aten::sin")[0]
    average = type(prof.total_average())()
    average += first
    with pytest.raises(AssertionError, match="Expected keys to match, but got aten::sin vs aten::exp"):
        average.add(second)
    with pytest.raises(AssertionError, match="FunctionEvent"):
        average.add(3)


def table_of(text):
    """The titles and rows of a table."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"(-+\s\s)+", line)]
    assert len(rules) == 3
    widths = [len(part) for part in lines[rules[0]].split()]

    def cells(line):
        found, at = [], 0
        for width in widths:
            found.append(line[at : at + width].strip())
            at += width + 2
        return found

    return cells(lines[rules[0] + 1]), [cells(line) for line in lines[rules[1] + 1 : rules[2]]], lines, rules


def test_table(torch, profiler):
    with profiler.profile() as prof:
        for _ in range(3):
            torch.ones(3).exp()
        torch.ones(3).sin()
    text = prof.key_averages().table(sort_by="count", row_limit=1)
    titles, rows, lines, _ = table_of(text)
    assert titles == ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
    assert len(rows) == 1 and int(rows[0][-1]) >= 3
    assert lines[-1].startswith("Self CPU time total: ") and text.endswith("\n")
    assert re.fullmatch(r"\d+\.\d\d%", rows[0][1]) and re.fullmatch(r"\d+\.\d{3}[um]?s", rows[0][2])
    _, rows, _, _ = table_of(prof.table(row_limit=-1))
    assert len(rows) == len(prof.function_events)


def test_columns_follow_what_was_asked_for(torch, profiler):
    with profiler.profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        kept = torch.ones(3, 3) * torch.ones(3)
    titles, rows, _, _ = table_of(prof.key_averages(group_by_input_shape=True).table())
    assert titles[6:] == ["CPU Mem", "Self CPU Mem", "# of Calls", "Input Shapes", "Total FLOPs"]
    (row,) = [row for row in rows if row[0] == "aten::mul"]
    assert row[6] == "36 B" and row[9] == "[[3, 3], [3]]" and row[10] == "9.000"
    assert kept.shape == (3, 3)


def test_header_and_long_names(torch, profiler):
    with profiler.profile() as prof:
        with profiler.record_function("x" * 80):
            torch.ones(3).exp()
    lines = prof.table(header="HEADER").splitlines()
    assert set(lines[0]) == {"="} and lines[1] == "HEADER"
    titles, rows, _, _ = table_of(prof.table(max_name_column_width=20))
    assert rows[0][0] == "x" * 17 + "..." and titles[0] == "Name"
    _, rows, _, _ = table_of(prof.table(max_name_column_width=None))
    assert rows[0][0] == "x" * 80


def test_only_the_top(torch, profiler):
    with profiler.profile() as prof:
        with profiler.record_function("block"):
            torch.ones(3).exp()
    text = prof.table(top_level_events_only=True)
    _, rows, lines, _ = table_of(text)
    assert [row[0] for row in rows] == ["block"] and lines[1] == "This report only display top-level ops statistics"


def test_units(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(3).exp()
    for unit in ("s", "ms", "us"):
        _, rows, lines, _ = table_of(prof.key_averages().table(time_unit=unit))
        assert all(re.fullmatch(rf"\d+\.\d{{3}}{unit}", row[2]) for row in rows) and lines[-1].endswith(unit)


def test_sorting(torch, profiler):
    with profiler.profile(profile_memory=True) as prof:
        kept = [torch.ones(n).exp() for n in (1000, 10)]
    keys = "cpu_time cpu_time_total self_cpu_time_total cpu_memory_usage self_cpu_memory_usage count".split()
    for key in keys:
        averages = prof.key_averages()
        _, rows, _, _ = table_of(averages.table(sort_by=key))
        ordered = sorted(averages, key=lambda average: getattr(average, key), reverse=True)
        assert [row[0] for row in rows] == [average.key for average in ordered]
    with pytest.raises(AttributeError, match="nothing_of_it"):
        prof.table(sort_by="nothing_of_it")
    assert len(kept) == 2


def test_texts_of_events(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(3).exp()
    event, average = named(prof, "aten::exp")[0], next(a for a in prof.key_averages() if a.key == "aten::exp")
    assert repr(event).startswith("<FunctionEvent id=") and " name=aten::exp " in repr(event)
    assert repr(average).startswith("<FunctionEventAvg key=aten::exp self_cpu_time=")
    assert event.cpu_time_str == event.cpu_time_total_str and event.key == "aten::exp"
    assert prof.function_events.table() == str(prof.function_events) == str(prof)
    assert event.time_range.elapsed_us() == event.cpu_time_total == event.cpu_time


def test_former_names_of_times(torch, profiler):
    with profiler.profile() as prof:
        torch.ones(3).exp()
    event = named(prof, "aten::exp")[0]
    for name in ("cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage"):
        with pytest.warns(FutureWarning, match=f"`{name}` is deprecated"):
            assert getattr(event, name) == 0
    with pytest.warns(FutureWarning, match="`cuda_time` is deprecated"):
        assert prof.total_average().cuda_time == 0
