"""The types of parameters and results in stubs: by annotation, by what a declaration says, and by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import Parameter
from typing import Any

# In stubs, names of types have an underscore before them: `float`, `dtype` and others are names of torch.
_WORDS = re.compile(r"\b(bool|int|float|complex|dtype|device|dtype_type)\b")
_SPELLED = {"type": "Type[Any]", "Parts": "tuple[Tensor, ...]", "TensorBase": "Tensor"}

# Annotations that say less than the name of the parameter.
VAGUE = frozenset("Any Array Dim Number Setting Sizes _empty".split())

_INTS = "_int | Sequence[_int]"
_BY_TYPE = {
    "Tensor": "out input self other source the_template A mat vec",
    "Tensor | _Scalar": "value src element elements test_elements exponent initial tensor1 tensor2 n x start end step",
    "Tensor | None": "b_ih b_hh pos_weight M B X iK fweights aweights weight",
    "Tensor | Sequence[Tensor]": "hx",
    "Sequence[Tensor]": "tensors params",
    "Tensor | _float": "q tol atol rtol rcond var mean std",
    "_Scalar": "alpha beta fill_value threshold",
    "Tensor | _Scalar | None": "min max",
    "_bool": "keepdim has_biases train bidirectional batch_first eigenvectors upper symmetric requires_grad "
    "pin_memory non_blocking force unbiased stable align_corners enabled largest",
    "_int": "num_layers storage_offset axis niter k N blocksize dense_dim",
    "_float": "dropout from_ median sigma lambd",
    "_int | _float": "correction",
    "_int | _float | None": "to",
    "_int | _float | str": "ord",
    "_int | _float | str | Tensor": "p",
    "_dtype": "dtype",
    "_Device": "device",
    "_layout": "layout",
    "_memory_format": "memory_format",
    "Generator | None": "generator",
    _INTS: "dim dims s size sizes shape shapes normalized_shape stride kernel_size dilation output_size "
    "output_padding source destination shifts pad split_sizes split_size split_size_or_sections low high order places "
    "times",
    f"str | {_INTS}": "padding",
    "Sequence[_int]": "physical_layout",
    "_float | Sequence[_float]": "output_ratio scale_factor",
    f"Tensor | {_INTS}": "sections indices_or_sections tensor_indices_or_sections input_lengths target_lengths repeats",
    "str": "device_type driver method",
    "str | Tensor": "equation",
    "Callable[..., Any]": "callable distance_function",
}
BY_NAME = {name: type_ for type_, names in _BY_TYPE.items() for name in names.split()}

# Parameters whose type is not that of their name elsewhere: function, parameter, type.
_ODD = {
    (function, name): type_
    for functions, name, type_ in (
        ("gaussian_nll_loss", "var", "Tensor | _float"),
        ("moveaxis movedim", "source", _INTS),
        ("pad constant_pad_nd", "pad", "Sequence[_int]"),
        ("set_", "source", "Any"),
        ("hsplit vsplit dsplit tensor_split", "indices", _INTS),
        ("bernoulli_ geometric_", "p", "Tensor | _float"),
        ("trapezoid trapz cumulative_trapezoid", "x", "Tensor"),
        ("normal_ log_normal_", "mean", "_float"),
        ("normal_ log_normal_", "std", "_float"),
        ("tensordot", "dims", "_int | Sequence[Sequence[_int]] | Sequence[_int] | Tensor"),
        ("atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod meshgrid", "tensors",
         "Tensor | Sequence[Tensor]"),
        ("cumsum cumprod log_softmax softmax", "dim", "_int"),
        ("float_power float_power_ result_type", "input", "Tensor | _Scalar"),
        ("save load", "f", "Any"),
        ("from_numpy", "ndarray", "ndarray[Any, Any]"),
        ("split", "split_size", _INTS),
        ("index_put index_put_", "indices", "Sequence[Tensor | None]"),
    )
    for function in functions.split()
    for name in [name]
}  # fmt: skip

# Results of functions whose own annotation does not say it.
RESULTS = {
    "broadcast_shapes": "Size",
    "adaptive_max_pool1d max_pool1d_with_indices": "tuple[Tensor, Tensor]",
    "get_device_module": "ModuleType",
    "load": "Any",
    "cholesky": "Tensor",
    "lobpcg std_mean var_mean gru rnn_tanh rnn_relu": "tuple[Tensor, Tensor]",
    "pca_lowrank svd_lowrank lstm": "tuple[Tensor, Tensor, Tensor]",
    "eig lstsq matrix_rank solve symeig": "NoReturn",
    "get_autocast_cpu_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype": "_dtype",
    "is_autocast_cpu_enabled is_autocast_ipu_enabled is_autocast_xla_enabled": "_bool",
    "set_autocast_cpu_dtype set_autocast_cpu_enabled": "None",
    "split_with_sizes_copy split_copy unbind_copy": "tuple[Tensor, ...]",
    "sym_ite sym_max sym_min sym_sum tolist to_dlpack": "Any",
    "is_set_to is_shared": "_bool",
    "__array_ufunc__ __array_wrap__ __array_function__ __dlpack__": "Any",
    "item": "_int | _float | _bool",
}
RETURNS = {name: type_ for names, type_ in RESULTS.items() for name in names.split()}


def spelled(annotation: Any) -> str:
    """Return the text of an annotation, with the names of types as stubs have them."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return _SPELLED.get(text, _WORDS.sub(lambda m: "_" + m[1].removesuffix("_type"), text))


def parameter_type(p: Parameter, function: str, op: Any) -> str:
    """Return the type of a parameter of a function or method.

    Args:
        op: its declaration, if it is declared.
    """
    text = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "Any")
    found = _ODD.get((function, p.name))
    if found is None and function[:2] == "__" and p.name in ("other", "exponent") and "matmul" not in function:
        found = "Tensor | _Scalar"
    if found is None and op is not None and p.name in op.arrays:
        found = "Sequence[Tensor]" if p.name in op.lists else "Tensor | _Scalar" if p.name in op.scalars else "Tensor"
    if found is None:
        vague = text.removesuffix(" | None") in VAGUE
        found = BY_NAME.get(p.name, "Any") if vague else spelled(text)
        if vague and text.endswith(" | None"):
            found = optional(found)
    if p.default is None and p.kind is not Parameter.VAR_POSITIONAL:
        found = optional(found)
    return found


def optional(text: str) -> str:
    return text if text == "Any" or "None" in text.split(" | ") else f"{text} | None"


def result_type(function: str, annotation: Any, op: Any, named: Iterable[str], group: str) -> str:
    """Return the type of what a function returns.

    Args:
        named: the names of named tuples.
        group: the module that has it.
    """
    if op is not None:
        if op.results:
            return f"return_types.{op.name}"
        return "tuple[Tensor, ...]" if op.many else "Tensor"
    text = spelled(annotation)
    if text not in VAGUE:
        return text
    if group == "linalg":
        return f"return_types.linalg_{function}" if f"linalg_{function}" in named else "Tensor"
    if function in RETURNS:
        return RETURNS[function]
    return f"return_types.{function}" if function in named else "Tensor"
