"""Every operator of torch's table under `vmap`, alone and around `vjp` and `jvp`, on one of torch's samples."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from tests.oracle.opinfo import table  # noqa: E402
from tests.oracle.opinfo_vmap import tally_of  # noqa: E402

TABLE = table()
ROWS = [line.split("\t") for line in (Path(__file__).parent / "opinfo_vmap_known.tsv").read_text().splitlines()[1:]]
KNOWN: dict[str, set[str]] = {}
for name, way, _ in ROWS:
    KNOWN.setdefault(name, set()).add(way)


def test_the_list_names_operators_and_gives_reasons() -> None:
    assert not [name for name in KNOWN if name not in TABLE]
    assert all(reason.strip() for _, _, reason in ROWS)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_operator(name: str) -> None:
    tally = tally_of(name, TABLE[name], 1, ("vmap", "vmapvjp", "vmapjvp"), ("float64", "int64"))
    if tally is None:
        pytest.skip("no such operator")
    told = [line for (way, _), line in tally.bad.items() if way not in KNOWN.get(name, set())]
    assert not told, "\n".join(told)
