"""Trains a character-level transformer on text, writes samples from it, and shows what four ways
of keeping saved tensors cost in bytes, time and exactness.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from .problem import Problem, check_writable, fraction, need, positive, rate, seed

if TYPE_CHECKING:
    from gradpack import Tensor

    from ..examples.gpt import GPT

SAMPLE = 400  # characters


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--text", metavar="FILE", help="text in UTF-8 (default: Python's own reference text)")
    parser.add_argument("--out", metavar="FILE", default="gradpack-demo.png", help="picture (default: %(default)s)")
    parser.add_argument("--save", metavar="FILE", help="write the trained weights there, as .npz")
    numbers: tuple[tuple[str, Any, float, str], ...] = (
        ("--steps", positive, 1000, "training steps"),
        ("--seed", seed, 0, "of all random numbers"),
        ("--layers", positive, 3, "transformer blocks"),
        ("--width", positive, 96, "numbers per position"),
        ("--heads", positive, 4, "attention heads; they divide the width"),
        ("--context", positive, 96, "characters that the model sees"),
        ("--batch", positive, 12, "windows of text in a step"),
        ("--dropout", fraction, 0.0, "probability"),
        ("--rate", rate, 4e-3, "learning rate"),
        ("--rounds", positive, 8, "timed rounds of the comparison"),
    )
    for name, kind, default, summary in numbers:
        parser.add_argument(name, type=kind, metavar="N", default=default, help=f"{summary} (default: %(default)s)")
    parser.add_argument("--compile", action="store_true", help="run training steps as a program of NumPy's calls")


def run(args: Namespace) -> int:
    text = check(args)
    from rich.console import Console

    import gradpack as torch

    from ..examples.gpt import GPT, draw, encode
    from . import report
    from .report import progress
    from .ways import compare, four_ways

    console = Console(highlight=False, markup=False, soft_wrap=True)
    begin = perf_counter()
    with explained():
        torch.manual_seed(args.seed)
        letters, data = encode(text)
        model = GPT(len(letters), args.context, args.width, args.heads, args.layers, args.dropout)
        count = sum(parameter.numel() for parameter in model.parameters())
        console.print(f"{len(text):,} characters, {len(letters)} different; {count:,} parameters")

        losses = train(console, model, data, args)
        console.print(f"\n--- a sample ---\n{sample(model, data, letters, args)}\n---\n")

        with four_ways(model) as ways, progress(console, "comparing", args.rounds + 1) as tell:
            model.train()
            steps = [draw(data, args.batch, args.context) for _ in range(args.rounds + 1)]
            compare(model, ways, steps, args.seed, lambda done: tell(done, ""))
        console.print(report.table(ways))
        console.print(report.LEGEND.format(rounds=args.rounds))

        report.save_picture(args.out, losses, ways)
        console.print(f"\npicture: {args.out}")
        if args.save is not None:
            report.save_weights(args.save, model)
            console.print(f"weights: {args.save}")
    console.print(f"done in {perf_counter() - begin:.0f} s")
    return 0


def train(console: Any, model: GPT, data: Tensor, args: Namespace) -> list[float]:
    """Trains the model and returns the loss of every step."""
    from ..examples.gpt import train as training
    from .report import Speed, progress

    losses: list[float] = []
    speed = Speed(args.batch * args.context)
    with progress(console, "training", args.steps) as tell:
        for loss in training(model, data, args.steps, args.batch, args.rate, args.compile):
            losses.append(loss)
            if not isfinite(loss):
                raise Problem(f"the loss became {loss} at step {len(losses)}: try a smaller --rate", code=1)
            tell(len(losses), f"loss {loss:.2f}  {speed.step():,.0f} tokens/s")
    return losses


def sample(model: GPT, data: Tensor, letters: list[str], args: Namespace) -> str:
    """Text that the model goes on with from the first characters of its training text."""
    model.eval()
    start = data[None, : min(8, args.context)]
    return "".join(letters[i] for i in model.generate(start, SAMPLE)[0].tolist())


def check(args: Namespace) -> str:
    """Check before the work starts everything that could fail later. Return the text."""
    if args.width % args.heads:
        raise Problem(f"--heads {args.heads} does not divide --width {args.width}")
    need("rich", "cli")
    need("matplotlib", "plot")
    text = load(args.text)
    check_length(text, args.context)
    check_memory(args, len(set(text)))
    outputs = {"--out": args.out, "--save": args.save}
    taken = {"--text": args.text} if args.text is not None else {}
    for option, file in outputs.items():
        if file is None:
            continue
        for other, path in taken.items():
            if os.path.realpath(path) == os.path.realpath(file):
                raise Problem(f"{option} and {other} are the same file, {file}")
        check_writable(file, option)
        taken[option] = file
    return text


def check_memory(args: Namespace, vocabulary: int) -> None:
    """Raise if sizes cannot fit: counts only float32 arrays that certainly live at the same time."""
    weights = args.width * (12 * args.width * args.layers + 2 * vocabulary + args.context)
    tokens = args.batch * args.context
    saved = tokens * (12 * args.width * args.layers + vocabulary)
    needed = 4 * (4 * weights + saved)  # weights, gradients and the optimizer's two averages
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise Problem(
            f"these sizes need at least {needed / 2**30:,.1f} GiB of memory, and this machine has "
            f"{there / 2**30:,.1f}: make --width, --layers, --batch or --context smaller"
        )


@contextmanager
def explained() -> Iterator[None]:
    """Turn errors that may still occur during the work into `Problem`s."""
    try:
        yield
    except MemoryError as error:
        raise Problem(f"out of memory: make --width, --batch or --context smaller ({error})", code=1) from None
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise Problem(str(error), code=1) from None


def load(file: str | None) -> str:
    """The text of a UTF-8 file, or the reference text that ships inside Python."""
    if file is None:
        try:
            from pydoc_data.topics import topics
        except ImportError:
            raise Problem("this Python comes without pydoc_data; name a text yourself: --text FILE") from None
        return "\n".join(topics.values())
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


def check_length(text: str, context: int) -> None:
    """Raise unless the text has at least `context` + 1 characters."""
    if len(text) <= context:
        raise Problem(
            f"the text has {len(text)} characters, and a context of {context} needs at least {context + 1}: "
            "take a longer text or a smaller --context"
        )
    if text == text[0] * len(text):
        raise Problem(f"the text is the character {text[0]!r} over and over: there is nothing to learn")
