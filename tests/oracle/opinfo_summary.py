"""Percentages of agreement, of the operators that the project began with and of the others."""

from __future__ import annotations

from tests.oracle.tally import Tally

from gradpack.extend.report import paths


def seeds() -> set[str]:
    """The operators that the project began with, as torch's table calls them."""
    return {path.removeprefix("torch.").removeprefix("Tensor.").rstrip("_") for path in paths()}


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
