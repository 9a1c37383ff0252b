"""The one table of sample arguments, a file for each module of operations."""
