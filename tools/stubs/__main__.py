"""Writes the stub files below `src/gradpack`; with `--check` only says which are out of date."""

from __future__ import annotations

import sys

from .modules import SOURCE, files


def main() -> int:
    stale = []
    for path, text in files().items():
        target = SOURCE / path
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            stale.append(path)
            if "--check" not in sys.argv:
                target.write_text(text, encoding="utf-8")
    print("\n".join(stale) or "all stub files are up to date")
    return bool(stale and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
