"""Recordings of what autograd saves, as tables, traces and data."""
