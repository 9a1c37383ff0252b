"""Percentages of agreement, of the operators that the project began with and of the others."""

from __future__ import annotations

import re
from pathlib import Path

from tests.oracle.tally import Tally

SEEDS = Path("/work/shared/ops.tsv")


def seeds() -> set[str]:
    """The entries of torch's table that the project began with: each row of the list names its own."""
    if not SEEDS.exists():
        return set()
    rows = [line.split("\t") for line in SEEDS.read_text().splitlines()]
    return {name.rstrip(".") for row in rows if row[1] == "op" for name in re.findall(r"OpInfo ([\w.]+)", row[3])}


def summary(tallies: dict[str, Tally | None], categories: list[str]) -> None:
    """Of the operators, how many agree wholly, and which do not; of the comparisons, how many agree.

    An operator agrees if every comparison of each of its samples does.
    """
    known = seeds()
    for title, wanted in ("seeds", True), ("beyond", False):
        group = {n: t for n, t in tallies.items() if (n in known or (t is not None and t.operator in known)) is wanted}
        absent = [n for n, t in group.items() if t is None]
        some = {n: t for n, t in group.items() if t is not None}
        print(f"{title}: {len(group)} operators, {len(absent)} missing {' '.join(absent)}")
        for category in categories:
            good = {n: t.good[category] for n, t in some.items()}
            bad = {n: t.bad[category] for n, t in some.items()}
            have = [n for n in some if good[n] + bad[n]]
            differ = [n for n in have if bad[n]]
            if have:
                both = sum(good.values()) + sum(bad.values())
                print(
                    f"  {category:9}{100 - 100 * len(differ) / len(have):6.1f} % of {len(have)} operators, "
                    f"{100 * sum(good.values()) / both:6.2f} % of {both} comparisons"
                    + (f"; not {' '.join(differ[:20])}" if differ else "")
                )
