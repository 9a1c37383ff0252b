"""The training text of the demo, and its encoding as character indices."""

from __future__ import annotations

from pathlib import Path

from .problem import Problem


def load(file: str | None) -> str:
    """The text of a UTF-8 file, or the reference text that ships inside Python."""
    if file is None:
        return _pydoc()
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise Problem(f"--text: there is no file {file}") from None
    except IsADirectoryError:
        raise Problem(f"--text: {file} is a folder; name a text file in it") from None
    except UnicodeDecodeError as error:
        raise Problem(
            f"--text: {file} is not text in UTF-8: byte {error.start} is {error.object[error.start]:#04x}. "
            "Convert it first"
        ) from None
    except OSError as error:
        raise Problem(f"--text: cannot read {file}: {error.strerror}") from None
    if not text:
        raise Problem(f"--text: {file} is empty")
    return text


def _pydoc() -> str:
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise Problem("this Python comes without pydoc_data; name a text yourself: --text FILE") from None
    return "\n".join(topics.values())


def check_length(text: str, context: int) -> None:
    """Raise unless the text has at least `context` + 1 characters."""
    if len(text) <= context:
        raise Problem(
            f"the text has {len(text)} characters, and a context of {context} needs at least {context + 1}: "
            "take a longer text or a smaller --context"
        )
    if text == text[0] * len(text):
        raise Problem(f"the text is the character {text[0]!r} over and over: there is nothing to learn")
