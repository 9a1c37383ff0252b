"""The programs here run in Pyodide, not under pytest: `make browser-test`."""

collect_ignore = ["program.py"]
