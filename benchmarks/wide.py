"""What several threads in one backward pass gain, on branches of elementwise operations.

    python -m benchmarks.wide [--branches N] [--rounds N]

Serial and parallel passes alternate in one process; the figure is the median of their ratios, and
gradients are compared to the last bit first.
"""

import argparse
import statistics
import sys
import time

import gradpack as torch


def loss_of(x: torch.Tensor, weights: list[torch.Tensor], depth: int) -> torch.Tensor:
    ends = []
    for w in weights:
        h = x
        for _ in range(depth):
            h = torch.tanh(h * w) + h
        ends.append(h)
    return torch.stack([e.sum() for e in ends]).sum()


def once(leaves: list[torch.Tensor], depth: int, parallel: bool) -> tuple[float, list[torch.Tensor]]:
    """Seconds of one backward pass, and its gradients."""
    for leaf in leaves:
        leaf.grad = None
    loss = loss_of(leaves[0], leaves[1:], depth)
    with torch.autograd.set_multithreading_enabled(parallel):
        start = time.perf_counter()
        loss.backward()
        taken = time.perf_counter() - start
    return taken, [leaf.grad.clone() for leaf in leaves]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--branches", type=int, default=2)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args()
    print(f"{options.branches} branches of depth {options.depth}, {torch.get_num_threads()} threads")
    for elements in (30_000, 100_000, 300_000, 1_000_000, 3_000_000):
        torch.manual_seed(0)
        leaves = [torch.randn(elements, requires_grad=True) for _ in range(options.branches + 1)]
        serial, parallel = once(leaves, options.depth, False), once(leaves, options.depth, True)
        if not all(torch.equal(a, b) for a, b in zip(serial[1], parallel[1], strict=True)):
            print("wide: the gradients differ", file=sys.stderr)
            return 1
        ratios, times = [], []
        for _ in range(options.rounds):
            base = once(leaves, options.depth, False)[0]
            times.append(base)
            ratios.append(once(leaves, options.depth, True)[0] / base)
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(
            f"{elements:>10,} elements: serial {1e3 * statistics.median(times):8.2f} ms, "
            f"parallel / serial {middle:.2f} ({low:.2f}-{high:.2f})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
