"""Modules that have moved: pickles and programs that name the old ones find everything in the new ones.

`MOVED` lists the old modules. They are found only where nothing else finds a module of that name, hold nothing, and
look names up in the new modules, in order.

Example::

    >>> from gradpack.nn.layers import Linear
    >>> Linear.__module__
    'gradpack.nn.modules.linear'
"""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

_LIBRARY = __name__.partition(".")[0]

# An old module, and the new ones, below gradpack.
_TABLE = """
    autograd.profiler_events autograd.profiling.events
    autograd.profiler_kineto autograd.profiling.kineto
    nn.activations          nn.modules.activation
    nn.adaptive             nn.modules.adaptive
    nn.adaptive_pooling     nn.modules.pooling
    nn.attention            nn.modules.activation nn.modules.linear
    nn.batch_norm           nn.modules.batchnorm nn.modules.instancenorm nn.modules.normalization
    nn.containers           nn.modules.container
    nn.convolution          nn.modules.conv
    nn.embedding_bag        nn.modules.sparse
    nn.functional_activations   nn.functional
    nn.functional_attention     nn.functional
    nn.functional_dropout       nn.functional
    nn.functional_linear_loss   nn.functional nn.modules.linear_cross_entropy_options
    nn.functional_losses        nn.functional
    nn.functional_margins       nn.functional
    nn.global_hooks         nn.modules.module
    nn.layers               nn.modules.linear nn.modules.sparse nn.modules.flatten
    nn.lazy                 nn.modules.lazy
    nn.lazy_layers          nn.modules.linear nn.modules.conv nn.modules.batchnorm nn.modules.instancenorm
    nn.linear_cross_entropy nn.modules.loss
    nn.losses               nn.modules.loss
    nn.margin_losses        nn.modules.loss
    nn.module               nn.modules.module
    nn.more_activations     nn.modules.activation
    nn.more_losses          nn.modules.loss nn.modules.distance
    nn.normalize            nn.modules.normalization nn.modules.dropout
    nn.padding              nn.modules.padding
    nn.parameter_containers nn.modules.container
    nn.pooling              nn.modules.pooling
    nn.registration_hooks   nn.modules.module
    nn.resizing             nn.modules.upsampling nn.modules.pixelshuffle nn.modules.channelshuffle nn.modules.fold
    nn.rnn                  nn.modules.rnn
    nn.rnn_cells            nn.modules.rnn
    nn.state                nn._module.state_dict
    nn.sync_batch_norm      nn.modules.batchnorm
    nn.top_level            nn._functional.top_level
    nn.transformer          nn.modules.transformer
    nn.transformer_layers   nn.modules.transformer
    nn.uninitialized        nn.parameter
    ops.generator           ops.random.generator
"""
# Modules of operations that had no folders: their functions are asked of `gradpack` and `gradpack.nn.functional`.
_OPERATIONS = """
    activation affine arithmetic arrange attention avg_pool batch_norm bessel binary_numbers bins bits
    broadcasting compare complex_from_parts complex_parts conv_products convert convolution copies ctc cumulate
    diagonal differences distance division dropout dropped einsum embedding embedding_bag exchange exponential
    extremes fill fill_like fill_random fold fourier gamma_functions gated grid_sample group_norm hashing
    index_dim index_reduce integrate interpolate join lapack layout limits linalg_addmm linalg_check linalg_det
    linalg_factor linalg_householder linalg_least_squares linalg_lowrank linalg_lu linalg_norm linalg_solve
    linalg_svd linalg_triangular linalg_vectors log_gamma loss loss_margin loss_pointwise masked masked_moments
    masked_reductions matrix_functions max_pool norm normalize normalize_functional numpy_forms numpy_products
    operands order padding pairwise pooling power prelu put quantiles random_integers random_like ranges
    recurrent reparametrize rounding sampling scatter scatter_reduce search segments selection similarity
    softmax sparse_products sparse_softmax spectrogram split stacks statistics strided transpose trigonometry
    truth unique variance windows
"""
MOVED = {f"ops.{old}": [".", "nn.functional"] for old in _OPERATIONS.split()}
MOVED |= {old: new for old, *new in map(str.split, _TABLE.strip().splitlines())}


class MovedModule(ModuleType):
    """A module that has moved, with its names looked up where they are now."""

    def __getattr__(self, name: str) -> Any:
        if name[:2] != "__":
            for place in MOVED[self.__name__.partition(".")[2]]:
                found = getattr(import_module(f"{_LIBRARY}.{place}".rstrip(".")), name, self)
                if found is not self:
                    return found
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)


class _Loader:  # duck-typed: importing importlib.abc takes as long as all of `base`
    """Makes a module that looks its names up."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return MovedModule(spec.name, "Names that have moved.")

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module holds nothing."""


def find_spec(fullname: str) -> ModuleSpec | None:
    """Return the spec of a module that has moved, and None for any other."""
    return ModuleSpec(fullname, cast("Any", _Loader())) if fullname.partition(".")[2] in MOVED else None
