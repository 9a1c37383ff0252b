"""docs/names.md: `python -m tests.extend.names_page > docs/names.md` writes it anew."""

from __future__ import annotations

from pathlib import Path

from gradpack.extend.report import paths, sections


def others() -> dict[str, str]:
    """Names of a TypeScript library of the same kind, with what each became here."""
    found = {}
    for entry in sections(Path(__file__).with_name("others.txt"))["others"]:
        became, _, names = entry.rpartition(": ")
        for word in names.split():
            name, given, function = word.partition("=")
            found[name] = f"keyword arguments of `{function}`" if given else became
    return found


def page() -> str:
    """docs/names.md."""
    by_place: dict[str, list[str]] = {}
    for path in paths():
        place, _, name = path.rpartition(".")
        by_place.setdefault(place, []).append(name)
    lines = [
        "# Names",
        "",
        f"gradpack has these {len(paths())} names of torch where torch has them, under `gradpack` instead of `torch`.",
        "`gradpack ops` says what is there, `gradpack ops NAME` what is known of one operation.",
        "",
        "| Where | Names |",
        "|---|---|",
        *(f"| `{place}` | {' '.join(f'`{n}`' for n in names)} |" for place, names in sorted(by_place.items())),
        "",
        "## Names of a TypeScript library of the same kind",
        "",
        "What has their purpose in Python, where anything has. Static types of shapes and dtypes have no counterpart:",
        "what they say is checked when an operation runs, and `jaxtyping` can write it in annotations.",
        "",
        "| Name | In Python |",
        "|---|---|",
    ]
    by_became: dict[str, list[str]] = {}
    for name, became in others().items():
        by_became.setdefault(became, []).append(name)
    lines += [
        f"| {' '.join(f'`{n}`' for n in names)} | {became.replace('|', '/')} |"
        for became, names in sorted(by_became.items(), key=lambda item: (-len(item[1]), item[0].lower()))
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
