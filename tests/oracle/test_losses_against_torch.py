"""Losses and distances against those of torch: on torch's own samples, and what they warn of and refuse."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from tests.oracle.both import LIBRARIES

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

from tests.oracle.opinfo import report, table  # noqa: E402 - needs torch

NAMES = (
    "nll_loss cross_entropy mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits kl_div poisson_nll_loss hinge_embedding_loss gaussian_nll_loss "
    "margin_ranking_loss cosine_embedding_loss triplet_margin_loss triplet_margin_with_distance_loss "
    "multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss ctc_loss cosine_similarity pairwise_distance"
)


@pytest.mark.parametrize("name", NAMES.split())
def test_samples(name: str) -> None:
    # Two samples of each dtype: with torch's sums in bfloat16 itself, others differ by a last place.
    assert report(f"nn.functional.{name}", table()[f"nn.functional.{name}"], 2) == []


def told(job: Any, lib: Any) -> Any:
    """The value, or the exception with its words; and the warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            value = job(lib, lib.nn.functional)
            value = [value.tolist(), None if value.grad_fn is None else value.grad_fn.name()]
        except Exception as error:
            value = [type(error).__name__, str(error).replace("torch.", "gradpack.")]
    return value, [str(w.message).replace("torch.", "gradpack.") for w in found]


def needing(lib: Any, *values: Any) -> Any:
    return lib.tensor(list(values), requires_grad=True)


WORDS = {
    "old flags": lambda lib, f: f.mse_loss(lib.ones(2), lib.zeros(2), size_average=False),
    "old flags, none": lambda lib, f: f.l1_loss(lib.ones(2), lib.zeros(2), reduce=False),
    "old flags of a module": lambda lib, f: lib.nn.SoftMarginLoss(size_average=True)(lib.zeros(2), lib.ones(2)),
    "elementwise_mean": lambda lib, f: f.mse_loss(lib.ones(2), lib.zeros(2), reduction="elementwise_mean"),
    "unknown reduction": lambda lib, f: f.mse_loss(lib.ones(2), lib.zeros(2), reduction="x"),
    "other size": lambda lib, f: f.mse_loss(lib.ones(2, 2), lib.zeros(2)),
    "weights": lambda lib, f: f.mse_loss(lib.ones(2), lib.tensor([3.0, 5.0]), weight=lib.tensor([1.0, 3.0])),
    "weights of l1": lambda lib, f: f.l1_loss(lib.ones(2), lib.tensor([3.0, 5.0]), weight=lib.tensor([1.0, 3.0])),
    "weights of huber": lambda lib, f: f.huber_loss(lib.ones(2), lib.zeros(2), weight=lib.tensor([1.0, 3.0])),
    "weights of another size": lambda lib, f: f.l1_loss(lib.ones(2), lib.ones(2), weight=lib.ones(1)),
    "kl_div mean": lambda lib, f: f.kl_div(lib.zeros(2), lib.ones(2)),
    "bce sizes": lambda lib, f: f.binary_cross_entropy(lib.ones(2), lib.zeros(2, 1)),
    "bce outside": lambda lib, f: f.binary_cross_entropy(lib.tensor([2.0]), lib.ones(1)),
    "bce dtypes": lambda lib, f: f.binary_cross_entropy(lib.tensor([1.0]), lib.tensor([1])),
    "bce weight": lambda lib, f: f.binary_cross_entropy(lib.ones(1), lib.ones(1), needing(lib, 1.0)),
    "bce edges": lambda lib, f: f.binary_cross_entropy(needing(lib, 0.0, 1.0), lib.tensor([0.5, 0.25])),
    "logits sizes": lambda lib, f: f.binary_cross_entropy_with_logits(lib.ones(2), lib.zeros(2, 1)),
    "logits weight": lambda lib, f: f.binary_cross_entropy_with_logits(
        lib.ones(1), lib.ones(1), pos_weight=needing(lib, 1.0)
    ),
    "smooth beta": lambda lib, f: f.smooth_l1_loss(lib.ones(1), lib.ones(1), beta=-1.0),
    "huber delta": lambda lib, f: f.huber_loss(lib.ones(1), lib.ones(1), delta=0),
    "nll batch": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.tensor([0, 1])),
    "nll class": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.tensor([0, 1, 7])),
    "nll spatial": lambda lib, f: f.nll_loss(lib.ones(3, 4, 2), lib.zeros(3, 3).long()),
    "nll images": lambda lib, f: f.nll_loss(lib.ones(3, 4, 2, 2), lib.zeros(3, 2).long()),
    "nll vector": lambda lib, f: f.nll_loss(lib.ones(4), lib.zeros(3).long()),
    "nll floats": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.zeros(3)),
    "nll int32": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.zeros(3).int()),
    "nll bytes": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.zeros(3).to(lib.uint8)),
    "nll 0-dim": lambda lib, f: f.nll_loss(lib.tensor(1.0), lib.tensor(0)),
    "nll weight": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.zeros(3).long(), lib.ones(3)),
    "nll weight dtype": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.zeros(3).long(), lib.ones(4).double()),
    "nll weight grad": lambda lib, f: f.nll_loss(lib.ones(1, 2), lib.tensor([1]), needing(lib, 1.0, 2.0)),
    "nll ignored": lambda lib, f: f.nll_loss(lib.ones(3, 4), lib.full((3,), -100), reduction="sum"),
    "nll list": lambda lib, f: f.nll_loss([1], lib.zeros(3).long()),
    "nll node": lambda lib, f: f.nll_loss(needing(lib, [1.0, 2.0]), lib.tensor([1])),
    "nll 2d node": lambda lib, f: f.nll_loss(needing(lib, [[1.0], [2.0]]), lib.tensor([[1]])),
    "cross entropy floats": lambda lib, f: f.cross_entropy(lib.ones(3, 4), lib.zeros(3)),
    "cross entropy ints": lambda lib, f: f.cross_entropy(lib.ones(3, 4), lib.zeros(3, 4).long()),
    "cross entropy sizes": lambda lib, f: f.cross_entropy(lib.ones(3, 4), lib.zeros(3, 5)),
    "cross entropy weight": lambda lib, f: f.cross_entropy(lib.ones(3, 4), lib.zeros(3, 4), lib.ones(3)),
    "cross entropy ignored": lambda lib, f: f.cross_entropy(lib.ones(3, 4), lib.zeros(3, 4), ignore_index=3),
    "margin class": lambda lib, f: f.multi_margin_loss(lib.ones(2, 3), lib.tensor([0, 5])),
    "margin targets": lambda lib, f: f.multi_margin_loss(lib.ones(2, 3), lib.tensor([0, 1, 2])),
    "margin floats": lambda lib, f: f.multi_margin_loss(lib.ones(2, 3), lib.tensor([0.0, 1])),
    "margin dims": lambda lib, f: f.multi_margin_loss(lib.ones(2, 3, 4), lib.tensor([0, 1])),
    "margin weight": lambda lib, f: f.multi_margin_loss(lib.ones(2, 3), lib.tensor([0, 1]), weight=lib.ones(4)),
    "margin p": lambda lib, f: f.multi_margin_loss(lib.ones(2, 3), lib.tensor([0, 1]), p=3),
    "margin node": lambda lib, f: f.multi_margin_loss(needing(lib, [1.0, 2.0]), lib.tensor([1])),
    "multilabel sizes": lambda lib, f: f.multilabel_margin_loss(lib.ones(2, 3), lib.tensor([0, 1])),
    "multilabel class": lambda lib, f: f.multilabel_margin_loss(lib.ones(3), lib.tensor([0, 1, 5])),
    "triplet margin": lambda lib, f: f.triplet_margin_loss(lib.ones(2), lib.ones(2), lib.ones(2), margin=-1.0),
    "triplet dims": lambda lib, f: f.triplet_margin_loss(lib.ones(2), lib.ones(2), lib.ones(1, 2)),
    "ranking dims": lambda lib, f: f.margin_ranking_loss(lib.ones(2), lib.ones(2), lib.ones(1, 2)),
    "cosine of ints": lambda lib, f: f.cosine_similarity(lib.ones(1, 2).long(), lib.ones(1, 2).long()),
    "variance size": lambda lib, f: f.gaussian_nll_loss(lib.ones(2, 3), lib.ones(2, 3), lib.ones(2, 2)),
    "variance sign": lambda lib, f: f.gaussian_nll_loss(lib.ones(2), lib.ones(2), -lib.ones(2)),
    "variance number": lambda lib, f: f.gaussian_nll_loss(lib.ones(2), lib.zeros(2), 2.0, full=True),
}


@pytest.mark.parametrize("name", WORDS)
def test_words(name: str) -> None:
    ours, theirs = (told(WORDS[name], lib) for lib in LIBRARIES)
    assert ours == theirs


CTC = {
    "usual": ([[1, 2], [2, 3]], (5, 4), (2, 1), {}),
    "in one row": ([1, 2, 3], (5, 4), (2, 1), {}),
    "impossible": ([[1, 1], [2, 3]], (2, 4), (2, 1), {}),
    "impossible, zero": ([[1, 1], [2, 3]], (2, 4), (2, 1), {"zero_infinity": True}),
    "no input": ([[1, 1], [2, 3]], (0, 0), (0, 1), {}),
    "no target": ([[1, 1], [2, 3]], (5, 3), (0, 0), {}),
    "blank last": ([[1, 2], [2, 0]], (5, 5), (2, 2), {"blank": 3}),
    "too long": ([[1, 2], [2, 3]], (6, 5), (2, 2), {}),
    "negative": ([[1, 2], [2, 3]], (5, 5), (-1, 2), {}),
    "short row": ([[1, 2], [2, 3]], (5, 5), (2, 3), {}),
    "other batch": ([[1, 2], [2, 3]], (5,), (2, 2), {}),
    "bad blank": ([[1, 2], [2, 3]], (5, 5), (2, 2), {"blank": 4}),
    "total": ([1, 2], (5, 5), (2, 2), {}),
}


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", CTC)
def test_ctc(name: str, reduction: str) -> None:
    targets, times, sizes, more = CTC[name]

    def run(lib: Any) -> Any:
        try:
            scores = (lib.arange(40, dtype=lib.float64).view(5, 2, 4) * 0.7).sin().requires_grad_()
            log_probs = scores.log_softmax(-1)
            loss = lib.nn.functional.ctc_loss(
                log_probs, lib.tensor(targets), lib.tensor(times), lib.tensor(sizes), reduction=reduction, **more
            )
            first = lib.autograd.grad(loss.sum(), [scores, log_probs])
            return [v.numpy() for v in (loss.detach(), *first)]
        except Exception as error:
            return type(error).__name__, str(error)

    ours, theirs = map(run, LIBRARIES)
    if isinstance(theirs, tuple):
        assert ours == theirs
        return
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        torch.testing.assert_close(torch.tensor(a), torch.tensor(b), equal_nan=True)


MODULES = {
    "BCELoss": ((), lambda lib: (lib.rand(3, 4), lib.rand(3, 4))),
    "BCEWithLogitsLoss": ((), lambda lib: (lib.randn(3, 4), lib.rand(3, 4))),
    "SmoothL1Loss": ((), lambda lib: (lib.randn(3, 4), lib.randn(3, 4))),
    "HuberLoss": (("sum", 0.5), lambda lib: (lib.randn(3, 4), lib.randn(3, 4))),
    "SoftMarginLoss": ((), lambda lib: (lib.randn(3, 4), lib.randn(3, 4).sign())),
    "KLDivLoss": ((None, None, "batchmean"), lambda lib: (lib.randn(3, 4), lib.rand(3, 4))),
    "PoissonNLLLoss": ((False, True), lambda lib: (lib.rand(3, 4), lib.rand(3, 4) * 9)),
    "GaussianNLLLoss": ((), lambda lib: (lib.randn(3, 4), lib.rand(3, 4), lib.rand(3, 1))),
    "HingeEmbeddingLoss": ((), lambda lib: (lib.randn(3, 4), lib.randn(3, 4).sign())),
    "CosineEmbeddingLoss": ((0.2,), lambda lib: (lib.randn(3, 4), lib.randn(3, 4), lib.randn(3).sign())),
    "MarginRankingLoss": ((0.2,), lambda lib: (lib.randn(3), lib.randn(3), lib.randn(3).sign())),
    "MultiLabelMarginLoss": ((), lambda lib: (lib.randn(2, 4), lib.tensor([[3, 0, -1, 1], [1, -1, 2, 2]]))),
    "MultiLabelSoftMarginLoss": ((), lambda lib: (lib.randn(2, 4), lib.rand(2, 4))),
    "MultiMarginLoss": ((2, 0.7), lambda lib: (lib.randn(3, 4), lib.tensor([0, 3, 1]))),
    "TripletMarginLoss": ((0.7, 2.0, 1e-6, True), lambda lib: (lib.randn(3, 4), lib.randn(3, 4), lib.randn(3, 4))),
    "TripletMarginWithDistanceLoss": ((), lambda lib: (lib.randn(3, 4), lib.randn(3, 4), lib.randn(3, 4))),
    "PairwiseDistance": ((3.0,), lambda lib: (lib.randn(3, 4), lib.randn(3, 4))),
    "CosineSimilarity": ((0,), lambda lib: (lib.randn(3, 4), lib.randn(3, 4))),
}


@pytest.mark.parametrize("name", MODULES)
def test_module(name: str) -> None:
    args, make = MODULES[name]
    ours, theirs = (getattr(lib.nn, name)(*args) for lib in LIBRARIES)
    assert repr(ours) == repr(theirs)
    torch.manual_seed(0)
    given = make(torch)
    import gradpack

    copies = [gradpack.from_numpy(t.numpy().copy()) for t in given]
    for group in (given, copies):
        group[0].requires_grad_()
    results = theirs(*given), ours(*copies)
    for r in results:
        r.sum().backward()
    for a, b in ((results[1], results[0]), (copies[0].grad, given[0].grad)):
        torch.testing.assert_close(torch.tensor(a.detach().numpy()), b.detach())


def test_what_torch_refuses_to_differentiate_twice() -> None:
    """A difference on purpose: see docs/differences.md."""
    import gradpack

    done = []
    for lib in (gradpack, torch):
        x = lib.zeros(3, 1, 3, dtype=lib.float64).log_softmax(-1).requires_grad_()
        loss = lib.nn.functional.ctc_loss(x, lib.tensor([[1]]), lib.tensor([3]), lib.tensor([1]))
        (g,) = lib.autograd.grad(loss, x, create_graph=True)
        try:
            (h,) = lib.autograd.grad(g.sum(), x)
            done.append(bool(h.isfinite().all()))
        except RuntimeError as error:
            done.append("not implemented" in str(error))
    assert done == [True, True]


def test_logits_of_few_rows_at_a_time_give_the_same_and_backward_can_be_repeated() -> None:
    import gradpack as lib

    f = lib.nn.functional
    x, w = lib.randn(7, 3, dtype=lib.float64), lib.randn(5, 3, dtype=lib.float64)
    target = lib.tensor([0, 4, 2, 1, -100, 3, 3])
    whole, parts = ([v.clone().requires_grad_() for v in (x, w)] for _ in range(2))
    f.linear_cross_entropy(*whole, target).backward()
    loss = f.linear_cross_entropy(*parts, target, options=lib.nn.LinearCrossEntropyOptions(batch_chunk_size=3))
    loss.backward(retain_graph=True)
    loss.backward()
    for a, b in zip(whole, parts, strict=True):
        assert lib.allclose(a.grad * 2, b.grad)
