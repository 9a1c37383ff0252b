"""Programs are run by a test, each in a process of its own."""

collect_ignore = ["same.py", "on_torch.py"]
collect_ignore_glob = ["*/*.py"]
