"""Calls of operations that generated code does not handle: dtypes, devices, modes, nodes."""
