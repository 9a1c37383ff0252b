"""Writes the stub files that editors and type checkers read: `python -m tools.stubs`."""
