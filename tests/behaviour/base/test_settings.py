"""What programs set and ask at the top of torch: devices, determinism, typed constructors, formats of memory."""

from __future__ import annotations

import warnings

import pytest

TYPES = {
    "BoolTensor": "bool", "ByteTensor": "uint8", "CharTensor": "int8", "ShortTensor": "int16", "IntTensor": "int32",
    "LongTensor": "int64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16", "FloatTensor": "float32",
    "DoubleTensor": "float64",
}  # fmt: skip


@pytest.mark.parametrize(("name", "of"), TYPES.items())
def test_typed_constructors(torch, name, of):
    kind, d = getattr(torch, name), getattr(torch, of)
    x = kind([1, 0])
    assert x.dtype is d and x.tolist() == [1, 0] and kind.dtype is d and kind.__name__ == name
    assert kind(2, 3).shape == (2, 3) and kind().shape == (0,) and kind(torch.Size([2, 1])).shape == (2, 1)
    assert isinstance(x, kind) and not isinstance(torch.tensor(1j), kind) and not isinstance(3, kind)
    assert torch.ones(1).type(kind).dtype is d and x.type() == f"torch.{name}" == torch.typename(x)
    assert torch.equal(kind(x), x)
    with pytest.raises(TypeError):
        kind(torch.tensor([1j]))


def test_tensor_is_made_of_sequences(torch):
    assert torch.LongTensor([1.5, 2]).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got float\)"):
        torch.Tensor(3.5)
    for kind in (torch.Tensor, torch.FloatTensor):
        assert kind([1.0], device="cpu").tolist() == [1]
        with pytest.raises(RuntimeError, match="legacy constructor expects device type: cpu but device type: cuda was"):
            kind([1.0], device="cuda")
    x = torch.ones(2, 2, dtype=torch.float64)
    assert x.new(2, 3).dtype is torch.float64 and x.new([1, 2]).tolist() == [1, 2]


@pytest.mark.filterwarnings("ignore:.*set_default_tensor_type")
def test_the_default_type(torch):
    torch.set_default_tensor_type(torch.DoubleTensor)
    try:
        assert torch.get_default_dtype() is torch.float64
        torch.set_default_tensor_type("torch.FloatTensor")
        assert torch.tensor(1.0).dtype is torch.float32
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            torch.set_default_tensor_type(torch.LongTensor)
        with pytest.raises(TypeError, match=r"type torch\.cuda\.FloatTensor not available"):
            torch.set_default_tensor_type("torch.cuda.FloatTensor")
        assert torch.tensor(1.0).dtype is torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_determinism(torch):
    assert not torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.is_deterministic_algorithms_warn_only_enabled() and torch.get_deterministic_debug_mode() == 1
        torch.set_deterministic_debug_mode("error")
        assert torch.get_deterministic_debug_mode() == 2
        with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`, but got odd"):
            torch.set_deterministic_debug_mode("odd")
        with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 3"):
            torch.set_deterministic_debug_mode(3)
        with pytest.raises(TypeError, match="must be bool, not int"):
            torch.use_deterministic_algorithms(1)
    finally:
        torch.use_deterministic_algorithms(False)


def test_precision_of_products(torch):
    assert torch.get_float32_matmul_precision() == "highest"
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_float32_matmul_precision("odd")
    assert torch.get_float32_matmul_precision() == "high"
    with pytest.raises(RuntimeError, match="expects a str, but got int"):
        torch.set_float32_matmul_precision(3)
    torch.set_float32_matmul_precision("highest")


def test_other_settings(torch):
    assert torch.is_warn_always_enabled() is False
    torch.set_warn_always(True)
    assert torch.is_warn_always_enabled() is True
    torch.set_warn_always(False)
    assert torch.get_num_interop_threads() >= 1 and torch.compiled_with_cxx11_abi() in (True, False)
    assert torch.set_flush_denormal(False) is True
    assert torch.profiler_allow_cudagraph_cupti_lazy_reinit_cuda12() is True


def test_numbers_of_tracing(torch):
    assert (torch.sym_int(-3.7), torch.sym_float(3), torch.sym_not(True)) == (-3, 3.0, False)
    assert torch.sym_max(3, 2.5) == 3.0 and isinstance(torch.sym_max(3, 2.5), float) and torch.sym_min(1, 2) == 1
    assert torch.sym_ite(True, 1, 2) == 1 and torch.sym_sqrt(4) == 2.0 and torch.sym_sum([1, 2]) == 3
    assert (torch.sym_sum(1, 2, 3), torch.sym_sum(4), torch.sym_sum(), torch.sym_sum((1, 2.5))) == (6, 4, 0, 3.5)
    with pytest.raises(AssertionError, match="expected SymBool or bool"):
        torch.sym_ite(1, 2, 3)
    with pytest.raises(AssertionError, match="type mismatch"):
        torch.sym_ite(True, 1, 2.5)


def test_memory_that_there_is_not(torch):
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator: can't allocate memory"):
        torch.ones(1 << 45)


# -- devices --


def test_devices_by_name(torch):
    assert torch.device("cuda:1").index == 1 and torch.device("cuda", 1) == torch.device("cuda:1")
    assert torch.device(type="cpu") == torch.device("cpu") and torch.device("meta").type == "meta"
    with pytest.raises(RuntimeError, match=r"Expected one of cpu, cuda, ipu, .* device string: foo"):
        torch.device("foo")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
        torch.device(0)


def test_there_is_no_accelerator(torch):
    cuda = torch.cuda
    assert not cuda.is_available() and cuda.device_count() == 0 and not cuda.is_initialized()
    assert cuda.memory_allocated() == 0 and len(cuda.memory_stats()) == 0
    cuda.empty_cache()
    cuda.manual_seed_all(1)
    assert not torch.mps.is_available() and not torch.xpu.is_available() and not torch.accelerator.is_available()
    x = torch.ones(1)
    for call in (lambda: torch.zeros(1, device="cuda"), x.cuda, lambda: x.to("cuda"), cuda.current_device):
        with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
            call()


def test_the_default_device(torch):
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("cpu")
    assert torch.ones(1).device == torch.device("cpu")
    torch.set_default_device(None)
    with torch.device("cpu") as place:
        assert place == torch.device("cpu") == torch.get_default_device()
    with torch.device("cuda"), pytest.raises(AssertionError, match="not compiled with CUDA"):
        torch.zeros(1)
    assert torch.zeros(1).device.type == "cpu"
    assert torch.get_device_module("cpu") is torch.cpu and torch.get_device(torch.ones(1)) == -1


# -- what a tensor says of itself --


def test_attributes(torch):
    x = torch.ones(2, 3)
    assert x.layout is torch.strided and repr(torch.strided).endswith(".strided")
    for name in "is_mps is_xpu is_xla is_vulkan is_mkldnn is_sparse is_sparse_csr is_quantized is_cuda is_meta".split():
        assert getattr(x, name) is False
    assert x.is_distributed() is False and x.dim_order() == (0, 1) and x.T.dim_order() == (1, 0)
    assert x.const_data_ptr() == x.data_ptr() and x.itemsize == 4 and x.nbytes == 24 and x.element_size() == 4
    assert x.new_empty_strided((2, 2), (1, 2)).stride() == (1, 2)
    assert torch.is_storage(x.untyped_storage()) and not torch.is_storage(x)
    with warnings.catch_warnings(action="ignore"):
        assert torch.is_storage(x.storage())
    assert torch.tensor([2.0]).is_nonzero() is True
    with pytest.raises(RuntimeError, match="ambiguous"):
        x.is_nonzero()
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert x.volatile is False


def test_names_that_were_removed(torch):
    x = torch.ones(2, 2)
    for call in (x.eig, x.symeig, lambda: torch.solve(x, x), lambda: torch.lstsq(x, x), lambda: torch.matrix_rank(x)):
        with pytest.raises(RuntimeError, match=r"deprecated since version 1\.9 and is now removed"):
            call()
    with pytest.raises(RuntimeError, match=r"reinforce\(\) was removed"):
        x.reinforce(1)


def test_functions_of_the_top(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert torch.hardshrink(x, 2.5).tolist() == x.hardshrink(2.5).tolist() == [[0, 0], [3, 4]]
    assert torch.threshold(x, 2.0, 0.0).tolist() == [[0, 0], [3, 4]]
    assert torch.prelu(-x, torch.tensor(0.25)).tolist() == (-x).prelu(torch.tensor(0.25)).tolist()
    assert torch.bilinear(x, x, torch.ones(1, 2, 2)).tolist() == [[9], [49]]
    assert torch.embedding(x, torch.tensor([1])).tolist() == [[3, 4]]
    torch.embedding(x, torch.tensor([1, 1])).sum().backward()
    assert x.grad.tolist() == [[0, 0], [2, 2]]
    assert torch.norm_except_dim(torch.tensor([[3.0, 4.0], [0.0, 2.0]])).tolist() == [[5], [2]]


@pytest.mark.filterwarnings("ignore:reduction")
def test_losses_of_the_top_take_numbers(torch):
    x, y = torch.tensor([[0.5, 2.0]]), torch.tensor([[1.0, 0.0]])
    F = torch.nn.functional
    for reduction, name in enumerate(("none", "mean", "sum")):
        same = {
            torch.kl_div(x, y, reduction): F.kl_div(x, y, reduction=name),
            torch.binary_cross_entropy_with_logits(x, y, None, None, reduction): F.binary_cross_entropy_with_logits(
                x, y, reduction=name
            ),
            torch.hinge_embedding_loss(x, y, 1.0, reduction): F.hinge_embedding_loss(x, y, reduction=name),
            torch.margin_ranking_loss(x, y, y, 0.5, reduction): F.margin_ranking_loss(x, y, y, 0.5, reduction=name),
            torch.poisson_nll_loss(x, y, True, False, 1e-8, reduction): F.poisson_nll_loss(x, y, reduction=name),
            torch.triplet_margin_loss(x, y, x, 1.0, 2.0, 1e-6, False, reduction): F.triplet_margin_loss(
                x, y, x, reduction=name
            ),
        }
        assert all(torch.allclose(a, b) and a.shape == b.shape for a, b in same.items())
    assert torch.kl_div(x, y).shape == x.shape


# -- memory formats --


def test_channels_last(torch):
    x = torch.arange(120.0).reshape(2, 3, 4, 5).requires_grad_()
    y = x.contiguous(memory_format=torch.channels_last)
    assert y.stride() == (60, 1, 15, 3) and torch.equal(x, y) and y.grad_fn.name() == "CloneBackward0"
    assert y.is_contiguous(memory_format=torch.channels_last) and not y.is_contiguous()
    assert not x.is_contiguous(memory_format=torch.channels_last) and x.contiguous() is x
    assert y.contiguous(memory_format=torch.channels_last) is y and y.contiguous().stride() == x.stride()
    assert x.to(memory_format=torch.channels_last).mul(2).stride() == y.stride()
    assert x.clone(memory_format=torch.channels_last).stride() == y.stride()
    assert y.clone().stride() == y.stride()
    assert y.clone(memory_format=torch.contiguous_format).stride() == x.stride()
    (y * torch.ones_like(y)).sum().backward()
    assert x.grad.stride() == x.stride() and bool((x.grad == 1).all())
    assert torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride() == y.stride()
    assert torch.zeros_like(y).stride() == y.stride()
    assert torch.empty_like(y, memory_format=torch.contiguous_format).stride() == x.stride()
    assert torch.ones_like(x.detach(), memory_format=torch.channels_last).stride() == y.stride()
    deep = torch.ones(2, 3, 4, 5, 6).contiguous(memory_format=torch.channels_last_3d)
    assert deep.stride() == (360, 1, 90, 18, 3)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        torch.ones(2, 3).contiguous(memory_format=torch.channels_last)
    assert not torch.ones(2, 3).is_contiguous(memory_format=torch.channels_last)
    assert repr(torch.channels_last).endswith(".channels_last")


# -- the generator --


def test_a_fork_of_the_generator(torch):
    torch.manual_seed(0)
    with torch.random.fork_rng():
        a = torch.rand(2)
    assert torch.equal(a, torch.rand(2)) and torch.random.initial_seed() == 0
