"""Packages that know torch's tensors know ours where gradpack stands in for torch: safetensors, opt_einsum, ..."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import gradpack


def run(text: str, *arguments: str) -> str:
    head = "import sys\nfrom gradpack.compat.as_torch import install_as_torch\ninstall_as_torch(force=True)\n"
    head += "import torch\n"
    done = subprocess.run([sys.executable, "-c", head + text, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(name: str):
    return pytest.mark.skipif(importlib.util.find_spec(name) is None, reason=f"{name} is not installed")


@needs("safetensors")
def test_all_of_safetensors_torch(tmp_path):
    run(
        """
import safetensors.torch as st
path = sys.argv[1]
def same(a, b):
    assert type(a) is torch.Tensor and a.dtype is b.dtype and a.shape == b.shape and a.tolist() == b.tolist(), (a, b)
names = "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64"
for name in (names + " float8_e4m3fn float8_e5m2").split():
    d = getattr(torch, name)
    tensors = {"a": torch.tensor([[0.0, 1.0, 2.0]]).to(d), "none": torch.ones(0).to(d), "one": torch.ones(()).to(d)}
    st.save_file(tensors, path)
    with open(path, "rb") as file:
        content = file.read()
    for found in (st.load_file(path), st.load_file(path, device="cpu"), st.load(content), st.load(st.save(tensors))):
        for key in tensors:
            same(found[key], tensors[key])
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
st.save_model(model, path)
other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
assert st.load_model(other, path) == (set(), [])
for key, value in other.state_dict().items():
    same(value, model.state_dict()[key])
tied = torch.nn.ModuleDict({"a": torch.nn.Linear(2, 2), "b": torch.nn.Linear(2, 2)})
tied["b"].weight = tied["a"].weight
st.save_model(tied, path, metadata={"by": "us"})
st.load_model(tied, path)
x = torch.arange(12.0).reshape(4, 3)
st.save_file({"x": x, "y": x + 1}, path, metadata={"k": "v"})
with st.safe_open(path, framework="pt", device="cpu") as file:
    assert sorted(file.keys()) == ["x", "y"] and file.metadata() == {"k": "v"}
    part = file.get_slice("x")
    same(part[1:3, 0:2], x[1:3, 0:2])
    assert part.get_shape() == [4, 3] and part.get_dtype() == "F32"
    y = file.get_tensor("y")
    (y.requires_grad_() * 2).sum().backward()
for wrong in ({"a": x, "b": x}, {"a": x.T}, {"a": x.to_sparse()}):
    try:
        st.save_file(wrong, path)
    except (RuntimeError, ValueError) as error:
        assert "share memory" in str(error) or "non contiguous" in str(error) or "sparse" in str(error)
    else:
        raise AssertionError(wrong)
""",
        str(tmp_path / "x.safetensors"),
    )


CONTRACTIONS = """
import opt_einsum
a, b, c = (torch.arange(n * 3.0).reshape(n, 3) for n in (2, 3, 3))
a.requires_grad_()
found = opt_einsum.contract("ij,jk,kl->li", a, b, c)
assert torch.equal(found, (a @ b @ c).T), found
found.sum().backward()
assert torch.equal(a.grad, (b @ c).sum(1).expand(2, 3))
expression = opt_einsum.contract_expression("ij,jk->ik", (2, 3), b, constants=[1])
assert torch.equal(expression(a), a @ b)
assert opt_einsum.contract("ii->i", c).tolist() == [0.0, 4.0, 8.0]
"""


@needs("opt_einsum")
def test_opt_einsum_contracts_our_tensors_under_both_names():
    run(CONTRACTIONS)
    done = subprocess.run(
        [sys.executable, "-c", "import gradpack as torch\n" + CONTRACTIONS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@needs("einops")
def test_einops_and_its_layers():
    run(
        """
import einops, einops.layers.torch as layers
x = torch.arange(6.0).reshape(2, 3)
assert torch.equal(einops.rearrange(x, "a b -> b a"), x.T)
assert torch.equal(einops.reduce(x, "a b -> a", "mean"), x.mean(1))
assert torch.equal(einops.einsum(x, torch.ones(3), "a b, b -> a"), x.sum(1))
packed, shapes = einops.pack([x, x[0]], "* c")
assert packed.shape == (3, 3) and torch.equal(einops.unpack(packed, shapes, "* c")[0], x)
model = torch.nn.Sequential(layers.Rearrange("a b -> b a"), layers.Reduce("b a -> b", "max"))
assert model(x).tolist() == [3.0, 4.0, 5.0]
mix = layers.EinMix("a b -> a c", weight_shape="b c", b=3, c=4)
mix(x).sum().backward()
assert mix.weight.grad.shape == (3, 4)
"""
    )


@needs("array_api_compat")
def test_array_api_compat_finds_the_namespace():
    run(
        """
import array_api_compat as compat
x = torch.arange(6.0).reshape(2, 3)
assert compat.is_torch_array(x) and compat.is_array_api_obj(x) and not compat.is_numpy_array(x)
xp = compat.array_namespace(x)
assert xp.__name__ == "array_api_compat.torch" and compat.size(x) == 6 and compat.device(x) == torch.device("cpu")
assert xp.sum(x, axis=0).tolist() == [3, 5, 7] and xp.permute_dims(x, (1, 0)).shape == (3, 2)
assert xp.mean(x, axis=1, keepdims=True).shape == (2, 1) and xp.concat([x, x], axis=1).shape == (2, 6)
assert xp.isdtype(x.dtype, "real floating") and xp.astype(x, xp.int64).dtype is torch.int64
assert compat.to_device(x, "cpu") is x
"""
    )


# -- the storages that safetensors reads --


def test_a_storage_of_a_file(tmp_path):
    path = tmp_path / "bytes"
    np.arange(8, dtype=np.float32).tofile(path)
    storage_type = type(gradpack.ones(1).untyped_storage())
    storage = storage_type.from_file(str(path), False, 32)
    x = gradpack.asarray(storage[8:16], dtype=gradpack.float32)
    assert x.tolist() == [2, 3] and storage[8:16].nbytes() == 8 and storage.untyped() is storage
    x[0] = 9
    assert storage[8:16].tolist() == list(np.array([9, 3], np.float32).tobytes())
    assert np.fromfile(path, np.float32)[2] == 2
    shared = storage_type.from_file(path, shared=True, nbytes=40)
    gradpack.asarray(shared, dtype=gradpack.float32)[1] = -1
    assert np.fromfile(path, np.float32).tolist() == [0, -1, 2, 3, 4, 5, 6, 7, 0, 0]
    with pytest.raises(RuntimeError, match="is smaller than the required <100>"):
        storage_type.from_file(path, nbytes=100)
    assert storage_type.from_file(tmp_path / "new", shared=True, nbytes=4).tolist() == [0] * 4


def test_parts_of_a_storage():
    x = gradpack.arange(4, dtype=gradpack.uint8)
    storage = x.untyped_storage()
    part = storage[1:3]
    assert part.tolist() == [1, 2] and part.data_ptr() == storage.data_ptr() + 1 and part != storage
    assert part == storage[1:3] and storage[2] == 2 and len(part) == 2
    with pytest.raises(RuntimeError, match="step of 2"):
        storage[::2]
