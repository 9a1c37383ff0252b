"""Shapes and dtypes in annotations: jaxtyping and beartype read tensors as they read those of torch."""

from __future__ import annotations

import pytest

import gradpack as torch

jaxtyping = pytest.importorskip("jaxtyping")
beartype = pytest.importorskip("beartype")
door = pytest.importorskip("beartype.door")

Tensor = torch.Tensor


def test_shapes_and_dtypes_are_checked():
    float_, int_ = jaxtyping.Float[Tensor, "b n"], jaxtyping.Int[Tensor, "n"]

    def picked(x, at):
        return x[:, at]

    picked.__annotations__ = {"x": float_, "at": int_, "return": float_}
    checked = jaxtyping.jaxtyped(typechecker=beartype.beartype)(picked)
    assert checked(torch.ones(2, 3), torch.tensor([0, 1, 2])).shape == (2, 3)
    with pytest.raises(jaxtyping.TypeCheckError):
        checked(torch.ones(2, 3), torch.tensor([0, 1]))
    with pytest.raises(jaxtyping.TypeCheckError):
        checked(torch.ones(2, 3).long(), torch.tensor([0, 1, 2]))


@pytest.mark.parametrize(
    ("kind", "dtypes"),
    [
        ("Float32", ["float32"]),
        ("Float", ["float16", "bfloat16", "float32", "float64"]),
        ("Complex", ["complex64", "complex128"]),
        ("Int", ["int8", "int16", "int32", "int64"]),
        ("UInt8", ["uint8"]),
        ("Bool", ["bool"]),
        ("Integer", ["uint8", "int64"]),
    ],
)
def test_every_dtype_is_recognised(kind, dtypes):
    every = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
    accepted = [
        name
        for name in every
        if isinstance(torch.ones(2).to(getattr(torch, name)), getattr(jaxtyping, kind)[Tensor, "2"])
    ]
    assert set(dtypes) <= set(accepted)
    assert "float32" in accepted or kind not in ("Float", "Float32")
    assert not (set(accepted) - set(dtypes)) or kind == "Integer"


def test_parameters_and_plain_annotations():
    assert isinstance(torch.nn.Parameter(torch.ones(2, 3)), jaxtyping.Float[Tensor, "a b"])
    assert not isinstance(torch.ones(2), jaxtyping.Float[Tensor, "a b"])
    assert isinstance(torch.tensor(1.0), jaxtyping.Float[Tensor, ""])
    assert door.is_bearable(torch.ones(2), Tensor) and not door.is_bearable(2, Tensor)
