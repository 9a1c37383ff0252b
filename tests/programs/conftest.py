"""Programs are run by a test, each in a process of its own."""

from pathlib import Path

collect_ignore = [
    path.name
    for path in Path(__file__).parent.glob("*.py")
    if path.stem not in ("conftest", "test_programs", "compare")
]
