"""What a recording says to do next, where its time went, and how it ended."""

import time
from threading import Thread

import pytest
from tests.saved.test_record_reports import printed

import gradpack as torch
from gradpack import saved
from gradpack.kernels.dispatch import compiling
from gradpack.saved import record
from gradpack.saved.recorder.recording_tables import advice_lines


def trained(policy):
    """Record a step of a model under a policy."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(32, 256), torch.nn.GELU(), torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 4)
    )
    with record() as r:
        with policy:
            loss = torch.nn.functional.mse_loss(model(torch.ones(256, 32)), torch.zeros(256, 4))
        loss.backward()
    return r


@pytest.fixture(scope="module")
def document():
    return trained(saved.bypass()).document()


def test_advice_is_what_the_rows_add_up_to(document):
    assert document["advice"], "a policy pays for three tensors of 256 KiB"
    rows = {row["id"]: row for row in document["rows"]}
    for one in document["advice"]:
        gains = [(row["what_if"][one["policy"]], row["held"]) for row in map(rows.get, one["rows"])]
        assert one["bytes"] == sum(min(freed, held) for (freed, _), held in gains)
        assert one["ms"] == pytest.approx(sum(ms for (_, ms), _ in gains), abs=1e-5)
        assert one["part"] == pytest.approx(one["bytes"] / document["peak"]["bytes"], abs=1e-4)
        assert one["part_of_step"] > 0
        assert f"these {len(gains)} tensors frees" in one["text"] and "gelu.input in 1" in one["text"]
    cheapest = [one["ms"] / one["bytes"] for one in document["advice"]]
    assert cheapest == sorted(cheapest)


def test_the_code_frees_what_is_said():
    document = trained(saved.bypass()).document()
    rounding = [one for one in document["advice"] if one["policy"] in ("bf16", "int8")]
    assert rounding  # one of the two, if it took less time than the other where this ran
    for one in rounding:
        code = one["code"].removeprefix("with ").partition(":  #")[0]
        packed = [row for row in trained(eval(code, {"saved": saved})).rows if row.policy and row.charged]
        assert [row.id for row in packed] == sorted(one["rows"])
        assert sum(row.bytes - row.packed_bytes for row in packed) == pytest.approx(one["bytes"], rel=0.02)


def test_what_frees_less_in_more_time_is_left_out(document):
    for one in document["advice"]:
        better = [o for o in document["advice"] if o is not one and o["bytes"] >= one["bytes"] and o["ms"] <= one["ms"]]
        assert all(o["rounds"] for o in better)


def test_small_tensors_are_not_worth_a_line():
    with record() as r:
        y = torch.ones(3, requires_grad=True).exp()
    assert r.document()["advice"] == []
    assert "Nothing: no policy frees a twentieth of the peak." in printed(r.table())
    del y


def test_tables_and_pages_have_it(document):
    r = trained(saved.bypass())
    text = printed(r.table())
    assert "What to do next" in text and "# around forward; " in text and "% of the step" in text
    assert 'id="advice"' in r.html()
    assert all("\n    with saved." in line for line in advice_lines(document))


# -- time --


def test_compilation_is_a_row_of_its_own():
    x = torch.ones(10, requires_grad=True)
    with record() as r:
        y = x.exp().sum()
        compiling(time.sleep, 0.05)
        y.backward()
    times = {one["name"]: one for one in r.document()["times"]}
    assert list(times) == ["forward", "backward", "compiling loops"]
    assert times["compiling loops"]["seconds"] >= 0.05
    assert sum(one["seconds"] for one in times.values()) <= r.document()["seconds"]
    assert "compiling loops" in printed(r.table()) and '"compilation"' in r.trace()
    with record() as r:
        y = x.exp()
    assert "compiling loops" not in printed(r.table())
    del y


def test_compilation_on_several_threads_counts_once():
    with record() as outer, record() as inner:
        threads = [Thread(target=saved.propagate(lambda: compiling(compiling, time.sleep, 0.1))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.ones(3, requires_grad=True).exp()
    for r in (outer, inner):
        (found,) = (one for one in r.document()["times"] if one["name"] == "compiling loops")
        assert 0.1 <= found["seconds"] <= r.document()["seconds"]


# -- ends --


def test_why_nothing_was_saved_is_said():
    with record() as r:
        pass
    assert "no operation saved a tensor for backward: no operation ran" in r.document()["summary"]
    with record() as r:
        torch.ones(3) + 1
    assert "1 operation ran; none had an operand that requires grad" in r.document()["summary"]
    assert "1 operation ran" in r._repr_html_()


def test_a_block_that_an_exception_ends_says_so():
    def interrupted():
        with r:
            torch.ones(3, requires_grad=True).exp()
            raise KeyboardInterrupt

    r = record()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert r.document()["error"] == "KeyboardInterrupt"
    assert "ended with KeyboardInterrupt: this is what was saved until then" in r.document()["summary"]
    try:
        raise ValueError
    except ValueError:
        with record() as r:
            pass
    assert r.error == ""
