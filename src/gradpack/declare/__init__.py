"""Declaring operations: one small declaration gives forward, derivatives, saved set and variants."""
