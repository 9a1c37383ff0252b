"""Makes the pictures of the gallery: `python -m tools.pictures` writes SVG files into docs/pictures/."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import gradpack as torch
from gradpack import nn, saved
from gradpack.autograd import graph

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
_COLOURS = ("#4363d8", "#e6794b", "#3a9d5d", "#8e4ec6", "#c2456b", "#58788a")
_WIDTH = 720


def _svg(height: int, body: Sequence[str], title: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" font-family="sans-serif"'
    )
    parts = [
        f'{head} font-size="12">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    return "\n".join([*parts, *body, "</svg>"]) + "\n"


def model() -> nn.Module:
    """Return a small network with the same weights each time."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10))


def step(network: nn.Module) -> None:
    """Go forward and backward once, on the same numbers each time."""
    torch.manual_seed(1)
    x, y = torch.randn(256, 64), torch.randint(0, 10, (256,))
    nn.functional.cross_entropy(network(x), y).backward()


def graph_picture() -> str:
    """Return the graph of a loss, as `autograd.graph.draw` draws it."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    loss = nn.functional.mse_loss(torch.tanh(layer(torch.ones(4, 3))), torch.zeros(4, 2))
    return str(graph.draw(loss, module=layer, title="a layer, tanh and a loss").svg).rstrip() + "\n"


def memory_picture() -> str:
    """Return the bytes that a step keeps for backward, for several ways of keeping them."""
    ways = {
        "keep": saved.keep(),
        "bf16": saved.bf16(),
        "recompute": saved.recompute(),
        "quantize": saved.quantize(bits=8),
    }
    peaks: dict[str, int] = {}
    for name, way in ways.items():
        with saved.meter() as meter, way:
            step(model())
        peaks[name] = int(meter.peak)
    most, body = max(peaks.values()), []
    for row, (name, peak) in enumerate(peaks.items()):
        top = 14 + 34 * row
        length = 500 * peak / most
        body.append(f'<text x="92" y="{top + 16}" text-anchor="end">{name}</text>')
        body.append(f'<rect x="100" y="{top}" width="{length:.1f}" height="24" fill="{_COLOURS[row]}"/>')
        body.append(f'<text x="{length + 108:.1f}" y="{top + 16}">{peak:,} bytes</text>')
    return _svg(20 + 34 * len(peaks), body, "Bytes held for backward at the peak of one step")


def loss_picture() -> str:
    """Return the loss of a classifier while it is trained: exact gradients next to ones from kept bfloat16."""
    curves = {"keep": _losses(saved.keep()), "bf16": _losses(saved.bf16())}
    most, body = max(map(max, curves.values())), []
    for colour, (name, losses) in zip(_COLOURS, curves.items(), strict=False):
        places = [f"{60 + 620 * i / (len(losses) - 1):.1f},{230 - 200 * v / most:.1f}" for i, v in enumerate(losses)]
        dashes = ' stroke-dasharray="6 4"' if name != "keep" else ""
        body.append(f'<polyline points="{" ".join(places)}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        body.append(f'<text x="600" y="{40 + 18 * len(body)}" fill="{colour}">{name}</text>')
    body.append('<path d="M60 20V230H680" fill="none" stroke="#888"/>')
    body += [f'<text x="54" y="{234 - 200 * v / most:.1f}" text-anchor="end">{v}</text>' for v in (0, 1, 2)]
    body.append('<text x="370" y="252" text-anchor="middle">steps: 0 to 60</text>')
    return _svg(262, body, "The loss of a classifier in 60 steps")


def _losses(way: Any) -> list[float]:
    network = model()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    torch.manual_seed(2)
    x = torch.randn(256, 64)
    y = (x @ torch.randn(64, 10)).argmax(1)
    found = []
    for _ in range(61):
        optimizer.zero_grad()
        with way:
            loss = nn.functional.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def flame_picture() -> str:
    """Return the calls of one step as a flame chart: what called what, and for how long."""
    network = model()
    step(network)
    with torch.autograd.profiler.profile() as profile:
        with torch.autograd.profiler.record_function("step"):
            step(network)
    assert profile is not None
    calls = [c for c in profile.flame() if c["children"]]
    start = min(c["start"] for c in calls)
    end = max(c["start"] + c["duration"] for c in calls)
    body: list[str] = []
    depth = _rows(calls, 0, lambda at: 10 + 700 * (at - start) / (end - start), body)
    return _svg(24 + 26 * depth, body, "The calls of one training step over time")


def _rows(calls: Sequence[dict[str, Any]], depth: int, place: Callable[[float], float], body: list[str]) -> int:
    """Add a box for each call, those it makes below it; return the number of rows."""
    deepest = depth
    for number, call in enumerate(calls):
        left, right = place(call["start"]), place(call["start"] + call["duration"])
        top, colour = 12 + 26 * depth, _COLOURS[(depth + number) % len(_COLOURS)]
        said = escape(call["name"])
        box = f'<rect x="{left:.1f}" y="{top}" width="{max(right - left, 0.5):.1f}" height="24" fill="{colour}"/>'
        body.append(f"<g><title>{said}: {call['duration']:.0f} µs</title>{box}")
        if right - left > 7 * len(said) + 6:
            body.append(f'<text x="{left + 4:.1f}" y="{top + 16}" fill="#fff">{said}</text>')
        body.append("</g>")
        deepest = max(deepest, _rows(call["children"], depth + 1, place, body))
    return max(deepest, depth + 1) if calls else depth


PICTURES = {"graph": graph_picture, "memory": memory_picture, "loss": loss_picture, "flame": flame_picture}


def main() -> int:
    """Write the pictures that are named, or all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        (FOLDER / f"{name}.svg").write_text(PICTURES[name](), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
