"""The files that `save` writes and `load` reads: what they hold, and what they are refused for."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import gradpack as torch
from gradpack.serialization.tree import STRUCTURE, BadFileError


def written(obj, **options) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    return file.getvalue()


def test_numpy_reads_the_files():
    data = written({"weight": torch.ones(2, 3), "deep": {"bias": torch.zeros(2)}}, format="npz")
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        assert arrays["weight"].tolist() == np.ones((2, 3)).tolist() and "deep.bias" in arrays


def test_archives_of_others_are_read(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", a=np.arange(3), b=np.float32(2))
    found = torch.load(tmp_path / "x.npz")
    assert found["a"].tolist() == [0, 1, 2] and found["b"].shape == () and found["b"].dtype is torch.float32
    np.save(tmp_path / "x.npy", np.eye(2))
    assert torch.load(tmp_path / "x.npy").tolist() == [[1, 0], [0, 1]]


def test_equal_objects_make_equal_files():
    assert written({"a": torch.ones(3)}) == written({"a": torch.ones(3)})


def test_names_that_occur_twice_do_not_collide():
    obj = {"a.b": torch.zeros(1), "a": {"b": torch.ones(1)}, "": torch.ones(2), "file": torch.ones(3)}
    found = torch.load(io.BytesIO(written(obj)))
    assert found["a.b"].item() == 0 and found["a"]["b"].item() == 1 and found[""].shape == (2,)
    assert found["file"].shape == (3,)


@pytest.mark.parametrize("format", ["npz", "safetensors"])
@pytest.mark.parametrize("name", "uint16 uint32 uint64 complex32 bfloat16 complex128 float8_e4m3fn float8_e5m2".split())
def test_dtypes_of_few(format, name):
    if format == "safetensors":
        pytest.importorskip("safetensors")
    x = torch.tensor([[1, 2, 3], [4, 5, 60000]]).to(getattr(torch, name))
    found = torch.load(io.BytesIO(written({"x": x, "row": x[1]}, format=format)))
    assert found["x"].dtype is x.dtype and found["x"].tolist() == x.tolist() and found["row"].tolist() == x[1].tolist()


# -- safetensors --


def test_safetensors_hold_the_same():
    pytest.importorskip("safetensors")
    x = torch.arange(6.0)
    obj = {"x": x, "view": x[2:4], "low": torch.ones(2, dtype=torch.bfloat16), "z": torch.ones(2, 2) * 1j}
    obj |= {"double": torch.tensor([1j], dtype=torch.complex128), "n": [1, None, (2.5,)], "s": torch.tensor(3)}
    found = torch.load(io.BytesIO(written(obj, format="safetensors")))
    assert all(torch.equal(found[k], obj[k]) and found[k].dtype is obj[k].dtype for k in obj if k != "n")
    assert found["n"] == [1, None, (2.5,)]
    found["x"][2] = 9
    assert found["view"][0].item() == 9


def test_safetensors_of_plain_dicts_are_what_other_libraries_write(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    torch.save({"a": torch.ones(2), "b": torch.zeros(1, dtype=torch.int64)}, tmp_path / "x.safetensors")
    raw = (tmp_path / "x.safetensors").read_bytes()
    assert "__metadata__" not in json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    assert library.load(raw)["a"].tolist() == [1, 1]
    library.save_file({"w": np.ones((2, 2), "float16")}, tmp_path / "y.safetensors", {"format": "np"})
    found = torch.load(tmp_path / "y.safetensors")
    assert found["w"].dtype is torch.float16 and found["w"].shape == (2, 2)


def test_without_the_library_the_extra_is_named(tmp_path):
    text = (
        "import sys; sys.modules['safetensors'] = None\n"
        "import gradpack as torch\n"
        f"torch.save(torch.ones(2), r'{tmp_path / 'x.safetensors'}')"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert "pip install 'gradpack[safetensors]'" in done.stderr and not list(tmp_path.iterdir())


# -- what is not written --


class Own:
    pass


class OwnTensor(torch.Tensor):
    pass


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: torch.nn.Linear(2, 2), r"a gradpack.nn.modules.linear.Linear: write its state_dict\(\) instead"),
        (lambda: {"a": [1, Own()]}, r"cannot write a .*Own at 'a.1': a file holds tensors"),
        (lambda: {"f": len}, "cannot write a builtins.builtin_function_or_method at 'f'"),
        (lambda: OwnTensor(torch.ones(2)), "cannot write a .*OwnTensor"),
        (lambda: {Own(): 1}, "cannot write"),
    ],
)
def test_what_would_need_code_is_refused(make, match):
    with pytest.raises(TypeError, match=match):
        written(make())


def test_containers_that_contain_themselves_are_refused():
    circle: list = []
    circle.append(circle)
    with pytest.raises(ValueError, match="nested deeper than 200, or one contains itself"):
        written(circle, format="npz")


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.npz"
    torch.save(torch.ones(2), path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        torch.save({"a": torch.zeros(1000), "b": Own()}, path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["x.npz"]
    file = io.BytesIO(b"old")
    with pytest.raises(TypeError):
        torch.save(Own(), file)
    assert file.getvalue() == b"old"


def test_a_link_stays_one_and_rights_are_kept(tmp_path):
    (tmp_path / "real.npz").touch(mode=0o600)
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    torch.save(torch.ones(2), tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink() and torch.load(tmp_path / "real.npz").tolist() == [1, 1]
    assert (tmp_path / "real.npz").stat().st_mode & 0o777 == 0o600
    torch.save(torch.ones(2), os.devnull)
    assert not os.path.isfile(os.devnull)


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="format must be one of torch, npz, safetensors, not 'pickle'"):
        written(torch.ones(2), format="pickle")


# -- what is not read --


def archive(**members: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members.items():
            made.writestr(name.replace("__dot__", "."), content)
    file.seek(0)
    return file


def test_objects_in_arrays_are_not_unpickled(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path / 'ran'}",)

    file = io.BytesIO()
    np.savez(file, a=np.array([Evil()], dtype=object))
    file.seek(0)
    with pytest.raises(BadFileError, match="holds Python objects, which may run code"):
        torch.load(file)
    assert not (tmp_path / "ran").exists()


def with_tree(tree, **arrays) -> io.BytesIO:
    return with_text(json.dumps({"format": "gradpack", "version": 1, "tree": tree}), **arrays)


def with_text(text: str, **arrays) -> io.BytesIO:
    file = io.BytesIO()
    np.savez(file, **{STRUCTURE: np.frombuffer(text.encode(), np.uint8)}, **arrays)
    file.seek(0)
    return file


A = np.zeros(4, "float32")
VIEW = {"tensor": "a", "dtype": "float32", "offset": 0, "shape": [2], "stride": [1]}


@pytest.mark.parametrize(
    ("tree", "match"),
    [
        ({"tensor": "b", "dtype": "float32"}, "the tensor 'b' is missing"),
        ({"tensor": "a", "dtype": "float99"}, "damaged"),
        ({"tensor": "a", "dtype": "float64"}, "is stored as float32, which is no form of float64"),
        ({**VIEW, "offset": 3}, "reaches outside its storage"),
        ({**VIEW, "offset": -1}, "a shape or strides that cannot be"),
        ({**VIEW, "shape": [1 << 62], "stride": [0]}, "damaged"),
        ({**VIEW, "shape": [-2]}, "cannot be"),
        ({**VIEW, "shape": [2.0]}, "cannot be"),
        ({**VIEW, "stride": [1000]}, "outside"),
        ({**VIEW, "stride": [1, 1]}, "cannot be"),
        ({"tensor": "a", "dtype": "float32", "order": [5]}, "damaged"),
        ({"same": 0}, "names a tensor that is not there"),
        ({"same": -1}, "names a tensor that is not there"),
        ({"eval": "1"}, "has a 'eval', which this version does not know"),
        ({"dict": [[{"list": []}, 1]]}, "damaged"),
        ({"dict": [1]}, "damaged"),
        ({"float": "1.0"}, "damaged"),
        ([1], "has a list where it may not"),
        ({}, "has a dict where it may not"),
        ({"device": "what"}, "Expected one of cpu"),
        ({"bytes": "###"}, "damaged"),
        ({"complex": ["x"]}, "damaged"),
    ],
)
def test_a_description_that_lies_is_refused(tree, match):
    with pytest.raises(RuntimeError, match=match):
        torch.load(with_tree(tree, a=A))


def test_nesting_without_end_is_refused():
    text = '{"list":[' * 5000 + "1" + "]}" * 5000
    with pytest.raises(BadFileError):
        torch.load(with_text('{"format":"gradpack","version":1,"tree":' + text + "}"))


@pytest.mark.parametrize(
    ("shape", "size", "said"),
    [
        ([1] * 101, 4, "101 dimensions"),
        ([2**62], 4, "safetensors file"),
        ([0, 2**62, 4], 0, "the shape|safetensors file"),
    ],
)
def test_safetensors_of_shapes_that_no_array_has(tmp_path, shape, size, said):
    pytest.importorskip("safetensors")
    header = json.dumps({"a": {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(size))
    with pytest.raises(RuntimeError, match=said):
        torch.load(tmp_path / "x.safetensors")


@pytest.mark.parametrize("format", ["npz", "safetensors"])
def test_a_damaged_file_is_refused_or_read(format):
    """Whatever is wrong, the answer is a tensor or a sentence."""
    if format == "safetensors":
        pytest.importorskip("safetensors")
    whole = written({"a": torch.ones(4, 5), "b": [torch.zeros(3, dtype=torch.bfloat16), 1, "x"]}, format=format)
    rng = random.Random(0)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for _ in range(rng.randrange(4)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            torch.load(io.BytesIO(bytes(data)))
        except (BadFileError, EOFError):
            refused += 1
    assert refused > 100


def test_a_later_version_is_refused():
    with pytest.raises(BadFileError, match="has version 2, and this gradpack reads version 1"):
        torch.load(with_text('{"format":"gradpack","version":2,"tree":1}'))


def test_other_files_are_refused():
    with pytest.raises(BadFileError, match="neither a file that save"):
        torch.load(io.BytesIO(b"hello world, this is garbage"))
    with pytest.raises(BadFileError, match=r"'a\.txt', which is no array"):
        torch.load(archive(a__dot__txt=b"1"))
