"""The pictures of the gallery are well-formed, show what they say, and are those that the script makes."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tools import pictures

SVG = "{http://www.w3.org/2000/svg}"
GALLERY = pictures.FOLDER.parent / "gallery.md"


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_pictures_are_well_formed_and_within_their_frame(name):
    for text in (pictures.PICTURES[name](), (pictures.FOLDER / f"{name}.svg").read_text(encoding="utf-8")):
        root = ET.fromstring(text)
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        boxes = [e for e in root.iter(f"{SVG}rect") if "%" not in e.attrib["width"]]
        assert boxes or name == "loss"
        for box in boxes:
            x, y = (float(box.get(key, 0)) for key in "xy")
            assert 0 <= x <= x + float(box.attrib["width"]) <= width + 1
            assert 0 <= y <= y + float(box.attrib["height"]) <= height + 1


def test_compressed_ways_hold_less():
    held = {
        name: int(number.replace(",", ""))
        for name, number in re.findall(r">(\w+)</text>.*?>([\d,]+) bytes", pictures.memory_picture(), re.DOTALL)
    }
    assert held["quantize"] < held["bf16"] < held["keep"] > held["recompute"]


def test_the_gallery_shows_all_of_them():
    shown = re.findall(r"]\(pictures/(\w+)\.svg\)", GALLERY.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(pictures.PICTURES) == sorted(p.stem for p in pictures.FOLDER.glob("*.svg"))
