"""Loops over elements as Numba compiles them: nothing here knows what an operation is."""
