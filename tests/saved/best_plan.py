"""The best plan there is: by looking at all of them, or by integer programming."""

from __future__ import annotations

from itertools import product

from gradpack.saved.choices import NEVER, outcome


def best_of_all(items, limit, disk, host):
    """The least time of any plan that fits; None if none does."""
    found = None
    for chosen in product(*(range(len(item.choices)) for item in items)):
        result = outcome(items, chosen)
        if result.fits((limit, disk, host)) and (found is None or result.seconds < found):
            found = result.seconds
    return found


class _Program:
    """Variables between 0 and 1 that are whole numbers, and sums of them within bounds."""

    def __init__(self):
        self.costs, self.rows, self.bounds = [], [], []

    def variable(self, cost=0.0):
        self.costs.append(cost)
        return len(self.costs) - 1

    def bound(self, row, low, high):
        self.rows.append(row)
        self.bounds.append((low, high))

    def both(self, a, b, cost=0.0):
        """A variable that is 1 where both others are."""
        found = self.variable(cost)
        self.bound({found: 1, a: -1, b: -1}, -1, 9)
        return found

    def least(self):
        import numpy as np
        from scipy import optimize, sparse

        table = sparse.lil_matrix((len(self.rows), len(self.costs)))
        for number, row in enumerate(self.rows):
            for variable, factor in row.items():
                table[number, variable] = factor
        low, high = zip(*self.bounds, strict=True)
        scale = max(self.costs)
        found = optimize.milp(
            np.array(self.costs) / scale,
            constraints=[optimize.LinearConstraint(table.tocsr(), low, high)],
            integrality=1,
            bounds=optimize.Bounds(0, 1),
            options={"mip_rel_gap": 1e-4},
        )
        assert found.success
        return found.mip_dual_bound * scale


def best_of_many(items, limit, disk):
    """What no plan that fits takes less time than, to a ten-thousandth."""
    program = _Program()
    takes = [[program.variable(choice.seconds) for choice in item.choices] for item in items]
    back = {}  # for each item the variables that say from when on it is there again
    for i, (item, mine) in enumerate(zip(items, takes, strict=True)):
        program.bound(dict.fromkeys(mine, 1), 1, 1)
        for n, choice in enumerate(item.choices):
            if n and choice.stays and item.first < item.last:
                back.setdefault(i, []).append((item.first, mine[n]))
            for j in choice.needs:
                for its, other in zip(takes[j], items[j].choices, strict=True):
                    if other.fetch or other.rounds:
                        program.both(mine[n], its, other.fetch + NEVER * other.rounds)
                    if other.is_made_again:
                        back.setdefault(j, []).append((item.first, program.both(mine[n], its)))
    for moment in sorted({item.born for item in items} | {item.first for item in items}):
        memory, on_disk = {}, {}
        for i, item in enumerate(items):
            if item.born <= moment < item.last:
                memory |= {takes[i][n]: c.nbytes / limit for n, c in enumerate(item.choices)}
                on_disk |= {takes[i][n]: c.disk / max(disk, 1) for n, c in enumerate(item.choices)}
            since = [variable for first, variable in back.get(i, ()) if first <= moment < item.last]
            if since:
                there = program.variable()
                memory[there] = item.choices[0].nbytes / limit
                for variable in since:
                    program.bound({there: 1, variable: -1}, 0, 9)
        program.bound(memory, 0, 1)
        program.bound(on_disk, 0, 1)
    return program.least()
