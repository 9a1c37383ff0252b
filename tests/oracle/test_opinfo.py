"""Every operator of torch's table, on a few of torch's own samples: one test for each.

What differs, and why, is written in `opinfo_known.tsv`, and so is what does not exist. The list is
exact: what agrees must not be in it. `python -m tests.oracle.opinfo` compares more, and prints it.
"""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from tests.oracle.opinfo import known, table, tally_of  # noqa: E402

TABLE = table()
DTYPES = ("float64", "complex128", "float32", "int64", "bool", "bfloat16")
KNOWN = known()


def test_the_list_names_operators_and_gives_reasons() -> None:
    unknown = [name for name in KNOWN if name not in TABLE]
    assert not unknown, f"opinfo_known.tsv names what torch's table does not have: {unknown}"
    assert all(reason.strip() for rows in KNOWN.values() for reason in rows.values())


@pytest.mark.parametrize("name", sorted(TABLE))
def test_operator(name: str) -> None:
    explained = KNOWN.get(name, {})
    tally = tally_of(name, TABLE[name], 2, dtypes=DTYPES)
    if tally is None:
        assert "missing" in explained, f"{name} does not exist, and opinfo_known.tsv does not say why"
        return
    new = [line for line in tally.lines() if line.split()[1] not in explained]
    assert not new, "differs from torch:\n" + "\n".join(new)
    gone = [category for category in explained if not tally.bad[category]]
    assert not gone, f"{name} agrees now: take it out of opinfo_known.tsv, with {gone}"
