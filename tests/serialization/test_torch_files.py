"""Files in torch's forms: what they may name, what they are refused for, and what is read of them when."""

from __future__ import annotations

import collections
import io
import os
import pickle
import random
import struct
import zipfile

import numpy as np
import pytest

import gradpack as torch
from gradpack.serialization.tree import BadFileError

FORMS = {"archive": True, "legacy": False}


def written(obj, form="archive") -> bytes:
    file = io.BytesIO()
    torch.save(obj, file, _use_new_zipfile_serialization=FORMS[form])
    return file.getvalue()


def read(data: bytes, **options):
    return torch.load(io.BytesIO(data), **options)


def archive(content: bytes, **members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("archive/data.pkl", content)
        for name, member in members.items():
            made.writestr(f"archive/data/{name[1:]}", member)
    return file.getvalue()


def legacy(content: bytes, keys=()) -> bytes:
    facts = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}
    heads = [pickle.dumps(x, 2) for x in (0x1950A86A20F9469CFC6C, 1001, facts)]
    return b"".join([*heads, content, pickle.dumps(list(keys), 2)])


# -- what comes back --


@pytest.mark.parametrize("form", FORMS)
def test_views_share_their_storage_again(form):
    x = torch.arange(12.0)
    back = read(
        written({"x": x, "row": x.view(3, 4)[1], "t": x.view(3, 4).T, "gap": x[1::5], "wide": x[:1].expand(3, 1)}, form)
    )
    back["x"][4] = 50
    assert back["row"].tolist() == [50, 5, 6, 7] and back["t"][0].tolist() == [0, 50, 8]
    assert back["t"].stride() == (1, 4) and back["gap"].stride() == (5,) and back["wide"].stride() == (0, 1)
    assert back["gap"].storage_offset() == 1 and back["gap"].untyped_storage() == back["x"].untyped_storage()


@pytest.mark.parametrize("form", FORMS)
def test_attributes_buffers_storages_and_arrays(form):
    x = torch.ones(2)
    x.label = "a"
    p = torch.nn.Parameter(torch.ones(3))
    p.group = [1]
    back = read(written([x, p, torch.nn.Buffer(torch.ones(1), persistent=False), np.arange(3), np.int8(5)], form))
    assert back[0].label == "a" and back[1].group == [1] and type(back[1]) is torch.nn.Parameter
    assert type(back[2]) is torch.nn.Buffer and not back[2].persistent
    assert back[3].tolist() == [0, 1, 2] and type(back[4]) is np.int8
    storage = read(written({"s": [(torch.arange(3, dtype=torch.uint8).untyped_storage(),)]}, form))["s"][0][0]
    assert storage.tolist() == [0, 1, 2]


def test_sparse_and_meta_tensors():
    sparse, meta = read(written([torch.eye(3).to_sparse(), torch.empty(2, 3, device="meta")]))
    assert sparse.is_coalesced() and torch.equal(sparse.to_dense(), torch.eye(3))
    assert meta.device.type == "meta" and meta.shape == (2, 3) and meta.stride() == (3, 1)


def test_tensors_of_several_dtypes_in_one_storage_are_refused():
    x = torch.ones(4)
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data as diff"):
        written([x, x.view(torch.int32)])


def test_containers_in_themselves_come_back():
    circle: list = [1]
    circle.append(circle)
    back = read(written(circle))
    assert back[1] is back


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_later_protocols(protocol):
    obj = {
        "a": [1, 2.5, "text" * 100, b"bytes", (1, 2, 3, 4), {5, 6}, 1 << 70, None, True, -7, 300],
        "f": frozenset("ab"),
    }
    obj["o"] = collections.OrderedDict(x=1j)
    assert read(archive(pickle.dumps(obj, protocol))) == obj


def test_equal_objects_make_equal_files_and_storages_begin_at_64():
    obj = {"a": torch.ones(3), "b": torch.zeros(100)}
    data = written(obj)
    assert data == written(obj)
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        for name in ("archive/data/0", "archive/data/1"):
            offset = made.getinfo(name).header_offset
            names, extra = struct.unpack("<HH", data[offset + 26 : offset + 30])
            assert (offset + 30 + names + extra) % 64 == 0


def test_storages_of_the_other_byte_order():
    name = "archive/data/0"
    file = io.BytesIO(written([torch.tensor([1.0, -2.5]), torch.tensor([1 + 2j])]))
    turned = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(turned, "w") as new:
        for info in old.infolist():
            content = old.read(info)
            if info.filename.endswith("byteorder"):
                content = b"big" if content == b"little" else b"little"
            elif info.filename.startswith("archive/data/"):
                content = np.frombuffer(content, np.float32).byteswap().tobytes()
            new.writestr(info.filename, content)
        assert name in new.namelist()
    back = read(turned.getvalue())
    assert back[0].tolist() == [1.0, -2.5] and back[1].tolist() == [1 + 2j]


# -- memory mapped --


def test_mapped_storages_are_parts_of_the_file_in_memory(tmp_path):
    x = torch.arange(1000.0)
    path = tmp_path / "x.pt"
    torch.save({"x": x, "y": x[10:20], "z": torch.ones(2, dtype=torch.bfloat16)}, path)
    before = path.read_bytes()
    found = torch.load(path, mmap=True)
    assert torch.equal(found["x"], x) and found["z"].tolist() == [1, 1]
    found["x"][10] = -1
    assert found["y"][0].item() == -1 and path.read_bytes() == before
    (found["x"].requires_grad_() * 2).sum().backward()
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(io.BytesIO(before), mmap=True)
    torch.save(x, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(path, mmap=True)


# -- where tensors go --


def on_cuda(obj) -> bytes:
    """A file whose tensors were on a CUDA device."""
    return written(obj, "legacy").replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")


def test_tensors_of_another_device():
    data = on_cuda(torch.ones(2))
    with pytest.raises(
        RuntimeError, match=r"Attempting to deserialize object on 'cuda:0'.* map_location=torch\.device\('cpu'\)"
    ):
        read(data)
    places = [
        "cpu",
        torch.device("cpu"),
        {"cuda:0": "cpu"},
        lambda storage, place: storage if place == "cuda:0" else None,
    ]
    for place in places:
        assert read(data, map_location=place).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Attempting to deserialize"):
        read(data, map_location=lambda storage, place: None)
    for place in (torch.device("cuda"), {"cuda:0": "cuda:1"}):
        with pytest.raises(RuntimeError, match="cannot put tensors on"):
            read(data, map_location=place)


# -- what is not run --


class Evil:
    def __init__(self, *wanted):
        self.wanted = wanted

    def __reduce__(self):
        return self.wanted


def ran(path):
    return os.system, (f"touch {path}",)


@pytest.mark.parametrize("wrap", [archive, legacy])
@pytest.mark.parametrize("protocol", [2, 4])
def test_hostile_pickles_are_refused_with_the_name_of_what_they_want(wrap, protocol, tmp_path):
    cases = {
        rf"{os.system.__module__}\.system": Evil(*ran(tmp_path / "ran")),
        "eval": Evil(eval, ("1",)),
        "getattr": Evil(getattr, (1, "real")),
        "__main__.f|functools.partial": Evil(__import__("functools").partial, (print,)),
        r"test_torch_files\.Own": Own(),
        r"numpy\.load|numpy\..*load": Evil(np.load, ("x",)),
    }
    for name, obj in cases.items():
        data = wrap(pickle.dumps({"a": obj}, protocol))
        for options in ({}, {"weights_only": False}, {"weights_only": True}):
            with pytest.raises(
                pickle.UnpicklingError, match=f"Unsupported global: GLOBAL .*({name}) was not an allowed"
            ):
                read(data, **options)
        with pytest.raises(RuntimeError):
            read(data)
    assert not (tmp_path / "ran").exists()


class Own:
    def __init__(self):
        self.n = 3

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x0c\x00\x00\x00__defaults__)sb.",  # state of a function
        b"\x80\x02ctorch\nTensor\n)\x81}X\x05\x00\x00\x00_data1sb.",  # state of a tensor
        b"\x80\x02]K\x01a)R.",  # calls a list
        b"\x80\x02ctorch\nfloat32\n)R.",  # calls a value
        b"\x80\x02K\x01Q.",  # a persistent object
        b"\x80\x02(X\x06\x00\x00\x00modulecos\nsystem\nt\x51.",
        b"\x80\x02X\x02\x00\x00\x00osX\x06\x00\x00\x00system\x93.",
        b"cos\nsystem\n(S'true'\ntR.",  # protocol 0
        b"\x80\x02(S'true'\nios\nsystem\n.",  # INST
        b"\x80\x02\x82\x01.",  # the registry of extensions
        b"\x80\x02X\xff\xff\xff\xff.",  # a text of four gigabytes
        b"\x80\x02r\xff\xff\xff\xff.",  # a memo of nothing
        b"\x80\x02}(((((.",
        b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",  # two gigabytes of zeros
    ],
)
def test_pickles_that_lie_are_refused(content):
    with pytest.raises(RuntimeError):
        read(archive(content))


def tensor_of(storage: bytes, offset=0, size=(2,), stride=(1,), count=2, kind="torch\nFloatStorage") -> bytes:
    def number(n):
        return b"J" + struct.pack("<i", n) if abs(n) < 1 << 31 else b"\x8a\x08" + struct.pack("<q", n)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    key = (
        b"(X\x07\x00\x00\x00storagec"
        + kind.encode()
        + b"\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
        + number(count)
        + b"tQ"
    )
    args = b"(" + key + number(offset) + numbers(size) + numbers(stride) + b"\x89)t"
    return archive(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + args + b"R.", _0=storage)


def test_tensors_that_reach_outside_their_storage_are_refused():
    assert read(tensor_of(bytes(8))).tolist() == [0, 0]
    for facts in (
        {"offset": 1}, {"offset": -1}, {"size": (3,)}, {"size": (1 << 62,)}, {"size": (-1,)}, {"stride": (2,)},
        {"stride": (-1,)}, {"stride": (1, 1)}, {"count": 3}, {"count": 1 << 40}, {"count": -2},
        {"kind": "torch.storage\nUntypedStorage", "count": 8},
    ):  # fmt: skip
        with pytest.raises(BadFileError):
            read(tensor_of(bytes(8), **facts))
    with pytest.raises(BadFileError, match="the storage '0' is missing"):
        read(tensor_of(bytes(8)).replace(b"archive/data/0", b"archive/data/1"))


def test_pickles_of_others_are_no_files_of_torch():
    with pytest.raises(RuntimeError, match="Invalid magic number; corrupt file"):
        read(pickle.dumps({"a": 1}, protocol=2))


@pytest.mark.parametrize("form", FORMS)
def test_five_hundred_damaged_files_give_an_error_or_the_right_content(form):
    x = torch.arange(20.0)
    obj = {
        "a": x.view(4, 5),
        "b": [x[3:7], torch.zeros(3, dtype=torch.bfloat16), 1, "x"],
        "s": torch.nn.Linear(2, 2).state_dict(),
    }
    whole = written(obj, form)
    rng = random.Random(0)
    refused = 0
    for _ in range(500):
        data = bytearray(whole)
        if rng.random() < 0.3:
            del data[rng.randrange(len(data)) :]
        for _ in range(rng.randrange(1, 4)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            found = read(bytes(data))
        except (BadFileError, EOFError):
            refused += 1
            continue
        if form == "archive":  # the older form has no checksums
            assert same(found, obj)
    assert refused > 200


def same(a, b) -> bool:
    if isinstance(b, torch.Tensor):
        return type(a) is type(b) and a.dtype is b.dtype and a.stride() == b.stride() and torch.equal(a, b)
    if isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in b)
    return (type(a) is type(b) and a == b) if not isinstance(b, list) else all(map(same, a, b))


# -- what the user allows --


@pytest.mark.parametrize("form", FORMS)
def test_classes_that_the_user_allows_are_written_and_read(form):
    with pytest.raises(TypeError, match=r"cannot write a .*Own"):
        written(Own(), form)
    with torch.serialization.safe_globals([Own, collections.defaultdict, dict]):
        assert torch.serialization.get_safe_globals() == [Own, collections.defaultdict, dict]
        table = collections.defaultdict(dict, a={"t": torch.ones(1)})
        data = written([Own(), table], form)
        back = read(data)
    assert back[0] == Own() and back[1]["a"]["t"].item() == 1 and back[1]["new"] == {}
    assert not torch.serialization.get_safe_globals()
    with pytest.raises(pickle.UnpicklingError, match=r"GLOBAL .*Own was not an allowed global"):
        read(data)
    if form == "archive":
        names = torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
        assert names == ["builtins.dict", "collections.defaultdict", f"{__name__}.Own"]


def test_names_that_files_have_for_a_class():
    data = archive(pickle.dumps(Own(), 2).replace(f"{__name__}\nOwn".encode(), b"old.place\nTheirs"))
    torch.serialization.add_safe_globals([(Own, "old.place.Theirs")])
    try:
        assert read(data) == Own()
    finally:
        torch.serialization.clear_safe_globals()
    with pytest.raises(TypeError, match="expected functions and classes"):
        torch.serialization.add_safe_globals([3])
