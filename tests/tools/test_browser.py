"""Which wheels `tools.browser` takes, and what the documentation gets of them."""

from __future__ import annotations

import hashlib
import io

import pytest

from tools import browser

PACKAGE = {"name": "numpy", "file_name": "numpy-2.0-wasm32.whl", "sha256": hashlib.sha256(b"good").hexdigest()}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(browser, "PLACE", tmp_path / "browser")
    browser.PLACE.mkdir()
    return browser.PLACE


@pytest.mark.parametrize("sent", [b"good", b"bad"])
def test_a_wheel_that_is_downloaded_is_the_one_that_is_listed(place, monkeypatch, sent):
    asked = []
    monkeypatch.setattr(browser, "urlopen", lambda url, timeout: asked.append(url) or io.BytesIO(sent))
    if sent == b"bad":
        with pytest.raises(ValueError, match=r"numpy-2.0-wasm32.whl: what was downloaded is not the file"):
            browser._wheel(PACKAGE, None)
        assert not list(place.iterdir())
        return
    assert [browser._wheel(PACKAGE, None) for _ in range(2)] == [PACKAGE["file_name"]] * 2
    assert asked == [f"https://cdn.jsdelivr.net/pyodide/v{browser.VERSION}/full/numpy-2.0-wasm32.whl"]
    assert (place / PACKAGE["file_name"]).read_bytes() == b"good"


def test_wheels_of_a_folder(place, tmp_path, capsys):
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    assert browser._wheel(PACKAGE, wheels) is None and "without it" in capsys.readouterr().out
    (wheels / "numpy-1.9-mine.whl").write_bytes(b"mine")
    assert browser._wheel(PACKAGE, wheels) == "numpy-1.9-mine.whl"
    assert (place / "numpy-1.9-mine.whl").read_bytes() == b"mine"


def test_the_site_gets_what_was_collected(place, tmp_path):
    site = {"site_dir": str(tmp_path / "site")}
    browser.on_post_build(site)
    assert not (tmp_path / "site").exists()
    (place / "packages.json").write_text("[]")
    browser.on_post_build(site)
    assert (tmp_path / "site" / "browser" / "files" / "packages.json").read_text() == "[]"
