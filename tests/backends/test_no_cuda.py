"""What `gradpack.cuda` says where there is no CUDA: torch's errors, and nothing is imported for it."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest
from tests.fake_cupy import installed

import gradpack as torch
from gradpack.backends import cupy_loading

pytestmark = pytest.mark.skipif(cupy_loading.count() > 0, reason="there is a CUDA device")


without_cupy = pytest.mark.skipif(
    find_spec("cupy") is not None, reason="CuPy is installed: there is no driver, it says"
)


def test_answers():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0 and not torch.cuda.is_initialized()
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == torch.cuda.memory_reserved() == 0
    assert torch.cuda.memory_stats() == {} and torch.cuda.get_rng_state_all() == []
    before = torch.initial_seed()
    torch.cuda.manual_seed(3)
    torch.cuda.manual_seed_all(3)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.get_arch_list() == []
    torch.cuda.set_stream(None)
    with torch.cuda.stream(None):
        assert torch.initial_seed() == before


@without_cupy
@pytest.mark.parametrize(
    "ask",
    [
        lambda: torch.cuda.current_device(),
        lambda: torch.cuda.synchronize(),
        lambda: torch.cuda.get_device_name(),
        lambda: torch.cuda.mem_get_info(),
        lambda: torch.cuda.current_stream(),
        lambda: torch.cuda.get_rng_state(),
        lambda: torch.ones(1).cuda(),
        lambda: torch.zeros(1, device="cuda"),
        lambda: torch.ones(1).to("cuda:0"),
    ],
)
def test_refusals(ask):
    with pytest.raises(AssertionError, match=r"Torch not compiled with CUDA enabled.*gradpack\[cuda\]"):
        ask()


def test_streams_are_refused_as_torch_refuses_them():
    with pytest.raises(RuntimeError, match=r"torch.cuda.Stream requires CUDA support"):
        torch.cuda.Stream()
    with pytest.raises(RuntimeError):
        torch.cuda.Event()
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.ones(1).pin_memory()
    assert not torch.ones(1).is_pinned()


def test_cupy_without_a_device():
    with installed(count=0):
        assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
        with pytest.raises(RuntimeError, match="Found no NVIDIA driver on your system"):
            torch.ones(1).cuda()


def test_asking_whether_there_is_cuda_costs_no_import():
    text = (
        "import sys, gradpack as torch; torch.cuda; torch.ones(1).sum()\n"
        "assert not any(n.startswith(('cupy', 'gradpack.cuda_', 'gradpack.backends.cupy.')) for n in sys.modules"
        " if n != 'gradpack.cuda_streams'), [n for n in sys.modules if 'cupy' in n]"
    )
    subprocess.run([sys.executable, "-c", text], check=True)
