"""Programs are run by a test, each in a process of its own."""

collect_ignore = ["programs"]
