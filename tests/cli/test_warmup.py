"""`gradpack warmup` compiles loops ahead, and says so when it cannot."""

from __future__ import annotations

from typing import Any

import pytest

from gradpack.cli import main, warmup


def test_without_numba_it_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("gradpack.backends.compiled.is_available", lambda: False)
    assert main(["warmup"]) == 2
    assert "gradpack[compiled]" in capsys.readouterr().err


def test_it_says_what_it_did(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Any) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("GRADPACK_CACHE_DIR", str(tmp_path))
    chosen = [step for step in warmup._steps() if step[0] in ("softplus", "softmax")]
    monkeypatch.setattr(warmup, "_steps", lambda: chosen)
    assert main(["warmup"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[:2] == ["softplus ...", "softmax ..."]
    assert "loops compiled" in captured.out
    assert captured.out.rstrip().endswith(str(tmp_path))
    assert not captured.err
