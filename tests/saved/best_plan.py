"""The best plan there is: by looking at all of them, or by integer programming."""

from __future__ import annotations

from itertools import product

from gradpack.saved.budgets.plans import NEVER, BudgetLimits, outcome


def best_of_all(items, limit, disk, host):
    """The least time of any plan that fits; None if none does."""
    found = None
    for chosen in product(*(range(len(item.choices)) for item in items)):
        result = outcome(items, chosen)
        if result.fits(BudgetLimits(limit, disk, host)) and (found is None or result.seconds < found):
            found = result.seconds
    return found


class _Program:
    """Variables between 0 and 1, and sums of them within bounds."""

    def __init__(self):
        self.costs, self.whole, self.rows, self.bounds = [], [], [], []

    def variable(self, cost=0.0, whole=False):
        self.costs.append(cost)
        self.whole.append(whole)
        return len(self.costs) - 1

    def bound(self, row, low, high):
        self.rows.append(row)
        self.bounds.append((low, high))

    def at_least(self, variable, *others):
        """`variable` is 1 where all others are."""
        self.bound({variable: 1, **dict.fromkeys(others, -1)}, 1 - len(others), 9)

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
            integrality=np.array(self.whole),
            bounds=optimize.Bounds(0, 1),
            options={"mip_rel_gap": 1e-4},
        )
        assert found.success
        return found.mip_dual_bound * scale


def best_of_many(items, limit, disk):
    """What no plan that fits takes less time than, to a ten-thousandth."""
    program = _Program()
    takes = [[program.variable(choice.seconds, True) for choice in item.choices] for item in items]
    again = [
        [x for c, x in zip(i.choices, mine, strict=True) if c.is_made_again]
        for i, mine in zip(items, takes, strict=True)
    ]
    users = {}  # for each item, those that may be made of it, with the variables that say so
    for i, (item, mine) in enumerate(zip(items, takes, strict=True)):
        program.bound(dict.fromkeys(mine, 1), 1, 1)
        for choice, x in zip(item.choices, mine, strict=True):
            for j in choice.needs:
                users.setdefault(j, []).append((i, x))
                for its, other in zip(takes[j], items[j].choices, strict=True):
                    if other.fetch or other.rounds:
                        program.at_least(program.variable(other.fetch + NEVER * other.rounds), x, its)
    for moment in sorted({item.born for item in items} | {item.first for item in items}):
        memory, on_disk = {}, {}
        made = {}  # which are made again by then
        for i in range(len(items) - 1, -1, -1):
            item = items[i]
            made[i], there = program.variable(), program.variable()
            for x in again[i]:
                if item.first <= moment:
                    program.at_least(made[i], x)
                for user, using in users.get(i, ()):
                    program.at_least(made[i], x, using, made[user])
                    program.at_least(there, x, using, made[user])
            if moment >= item.last:
                continue
            for n, (choice, x) in enumerate(zip(item.choices, takes[i], strict=True)):
                if n and choice.stays and item.first <= moment:
                    program.at_least(there, x)
                if item.born <= moment:
                    memory[x] = choice.nbytes / limit
                    on_disk[x] = choice.disk / max(disk, 1)
            memory[there] = item.choices[0].nbytes / limit
        program.bound(memory, 0, 1)
        program.bound(on_disk, 0, 1)
    return program.least()
