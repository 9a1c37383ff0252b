"""Budgets: which saved tensor to keep how, so that a limit in bytes holds and least time is lost."""
