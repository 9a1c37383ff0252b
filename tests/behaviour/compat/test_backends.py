"""`torch.backends`: the order of contraction, and what is not there."""

from __future__ import annotations

import pytest


def test_the_order_of_contraction_changes_no_value(torch):
    einsum = torch.backends.opt_einsum
    if not einsum.is_available():
        pytest.skip("opt_einsum is not installed")
    torch.manual_seed(0)
    a, b, c = (torch.randn(s, dtype=torch.float64) for s in ((2, 30), (30, 40), (40, 3)))
    found = []
    for options in ({"enabled": False}, {"strategy": "greedy"}, {"strategy": "optimal"}, {}):
        with einsum.flags(**options):
            found.append(torch.einsum("ab,bc,cd->da", a, b, c))
    assert all(torch.allclose(found[0], other) for other in found[1:])
    assert einsum.enabled is True and einsum.strategy == "auto"
    assert einsum.get_opt_einsum().__name__ == "opt_einsum"


def test_settings_are_checked(torch):
    einsum = torch.backends.opt_einsum
    if not einsum.is_available():
        pytest.skip("opt_einsum is not installed")
    with pytest.raises(ValueError, match=r"`strategy` must be one of the following: \[auto, greedy, optimal\]"):
        einsum.set_flags(None, "x")
    with einsum.flags(enabled=False):
        with pytest.raises(ValueError, match="opt_einsum is not enabled, so setting a `strategy` to greedy"):
            einsum.set_flags(None, "greedy")
    assert einsum.set_flags(True, "greedy") == (True, "auto")
    assert einsum.set_flags(None, "auto") == (True, "greedy")


def test_any_way_of_the_library_can_be_assigned(torch):
    einsum = torch.backends.opt_einsum
    if not einsum.is_available():
        pytest.skip("opt_einsum is not installed")
    einsum.strategy = "auto-hq"
    try:
        assert torch.einsum("ab,bc,cd->ad", *[torch.ones(2, 2)] * 3).tolist() == [[4, 4], [4, 4]]
    finally:
        einsum.strategy = "auto"


def test_accelerators_are_not_there(torch):
    backends = torch.backends
    assert backends.cudnn.is_available() is False and backends.cudnn.version() is None
    assert backends.cuda.is_built() is False and backends.mps.is_available() is False
    with backends.cudnn.flags(enabled=False):
        assert backends.cudnn.enabled is False
    assert backends.cudnn.enabled is True and backends.cudnn.deterministic is False
    assert backends.cuda.matmul.allow_tf32 in (True, False)
    backends.cuda.enable_flash_sdp(True)
    assert isinstance(backends.cpu.get_cpu_capability(), str)
    assert not hasattr(backends, "nonsense")
