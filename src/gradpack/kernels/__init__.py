"""Faster implementations of functions of `ops`, by the library that they are written with.

`table` lists them all: which function each stands in for, and for which arguments. `dispatch` reads the table, and is
the place where libraries are switched off. Both are light; kernels are imported when one first applies.
"""
