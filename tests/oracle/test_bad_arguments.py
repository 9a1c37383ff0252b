"""Arguments of another kind are refused as torch refuses them: by a TypeError that names the operator."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from tests.oracle.bad_arguments import KNOWN, disagreements  # noqa: E402
from tests.oracle.opinfo import table  # noqa: E402

TABLE = table()
LETTERS = sorted({name.rpartition(".")[2][0] for name in TABLE})


@pytest.mark.parametrize("letter", LETTERS)
def test_operators_that_begin_with(letter: str) -> None:
    names = [name for name in TABLE if name.rpartition(".")[2][0] == letter and name not in KNOWN]
    found = [line for name in sorted(names) for line in disagreements(name, TABLE[name])]
    assert not found, "\n".join(found)


def test_what_is_known_differs() -> None:
    agree = [name for name in KNOWN if not disagreements(name, TABLE[name])]
    assert not agree, f"these agree now: take them out of KNOWN: {agree}"
