"""Parts of long indexes: names that belong together, by the file that they are defined in."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import gradpack

# Modules whose index is in parts, and the title of what lies in a file or folder; parts stand in this order.
IN_PARTS = {"", "Tensor", "nn", "nn.functional"}
_PARTS = {
    "__init__.py": "Tensors, dtypes, shapes",
    "core/tensor.py": "Gradients",
    "core/data.py": "Gradients",
    "core/hooks.py": "Gradients",
    "autograd": "Gradients",
    "core": "Tensors, dtypes, shapes",
    "base/dtypes.py": "Tensors, dtypes, shapes",
    "base/info.py": "Tensors, dtypes, shapes",
    "base/size.py": "Tensors, dtypes, shapes",
    "ops/attributes.py": "Tensors, dtypes, shapes",
    "ops/create": "Making and converting",
    "serialization": "Making and converting",
    "ops/random": "Random numbers",
    "ops/index": "Indexing and masks",
    "ops/inplace_functions.py": "Indexing and masks",
    "ops/shape": "Shapes, joining, splitting",
    "ops/numpy_api": "Making and converting",
    "declare/dispatch": "Making and converting",
    "ops/pointwise": "Mathematics, element by element",
    "ops/special": "Mathematics, element by element",
    "ops/pointwise/compare.py": "Comparison",
    "ops/pointwise/bits.py": "Bits and logic",
    "ops/reduce": "Reductions",
    "ops/reduce/order.py": "Sorting and searching",
    "ops/reduce/search.py": "Sorting and searching",
    "ops/reduce/unique.py": "Sorting and searching",
    "ops/linalg": "Products and linear algebra",
    "declare/signature": "Products and linear algebra",
    "ops/fft": "Fourier transforms and windows",
    "ops/sparse": "Sparse tensors",
    "nn/parameter.py": "Containers and parameters",
    "nn/modules/module.py": "Containers and parameters",
    "nn/modules/container.py": "Containers and parameters",
    "nn/modules/linear.py": "Linear layers",
    "nn/modules/conv.py": "Convolution",
    "ops/conv/convolution.py": "Convolution",
    "nn/modules/pooling.py": "Pooling",
    "nn/_functional/pooling.py": "Pooling",
    "ops/conv/avg_pool.py": "Pooling",
    "ops/conv/max_pool.py": "Pooling",
    "nn/modules/padding.py": "Padding",
    "nn/modules/activation.py": "Activation and attention",
    "nn/_functional/activations.py": "Activation and attention",
    "nn/_functional/attention.py": "Activation and attention",
    "ops/nn/attention.py": "Activation and attention",
    "ops/pointwise/activation.py": "Activation and attention",
    "ops/pointwise/gated.py": "Activation and attention",
    "nn/modules/batchnorm.py": "Normalization",
    "nn/modules/instancenorm.py": "Normalization",
    "nn/modules/normalization.py": "Normalization",
    "nn/_functional/normalization.py": "Normalization",
    "ops/nn/batch_norm.py": "Normalization",
    "ops/nn/group_norm.py": "Normalization",
    "ops/nn/normalize.py": "Normalization",
    "nn/modules/rnn.py": "Recurrent layers",
    "ops/nn/recurrent.py": "Recurrent layers",
    "nn/modules/transformer.py": "Transformers",
    "nn/modules/dropout.py": "Dropout",
    "nn/_functional/dropout.py": "Dropout",
    "ops/nn/dropout.py": "Dropout",
    "nn/modules/sparse.py": "Embeddings",
    "ops/nn/embedding_bag.py": "Embeddings",
    "nn/modules/loss.py": "Losses",
    "nn/modules/adaptive.py": "Losses",
    "nn/modules/linear_cross_entropy_options.py": "Losses",
    "nn/_functional/class_losses.py": "Losses",
    "nn/_functional/linear_cross_entropy.py": "Losses",
    "nn/_functional/losses.py": "Losses",
    "nn/_functional/margin_losses.py": "Losses",
    "ops/nn/ctc.py": "Losses",
    "ops/nn/loss_margin.py": "Losses",
    "ops/nn/loss_pointwise.py": "Losses",
    "nn/modules/distance.py": "Distances",
    "ops/reduce/distance.py": "Distances",
    "nn": "Images and other layers",
    "ops/nn": "Images and other layers",
    "ops/conv": "Images and other layers",
    "amp": "Mixed precision",
    "compat/old_autocast.py": "Mixed precision",
    "func": "Compiling and transforms",
    "compiler": "Compiling and transforms",
    "base": "Devices, threads and defaults",
    "compat": "Devices, threads and defaults",
}
_OLD = "Older names"
_ORDER = [*dict.fromkeys(_PARTS.values()), _OLD]
_ROOT = Path(gradpack.__file__).parent


def part_of(value: Any) -> str:
    """Return the title of the part of an index that a function, class or property belongs to."""
    place = file_of(value)
    if re.match(r"Refused|Makes a tensor of dtype", inspect.getdoc(value) or ""):
        return _OLD
    while place not in _PARTS and "/" in place:
        place = place.rpartition("/")[0]
    return _PARTS.get(place, _ORDER[-2])


def order_of(title: str) -> int:
    """Return the place of a part among the others."""
    return _ORDER.index(title)


def file_of(value: Any) -> str:
    """Return the file that a function, class or property is defined in, below the package; empty if there is none."""
    body = getattr(getattr(value, "op", None), "forward", None)
    known: Any
    for known in (body, value, getattr(value, "fget", None)):
        try:
            return Path(inspect.getfile(inspect.unwrap(known))).relative_to(_ROOT).as_posix()
        except (TypeError, ValueError):
            continue
    return ""
