"""Modules that have moved: pickles and programs that name the old ones find everything in the new ones.

`MOVED` lists the old modules. They are found only where nothing else finds a module of that name, hold nothing, and
look names up in the new modules, in order.

Example::

    >>> from gradpack.nn.layers import Linear
    >>> Linear.__module__
    'gradpack.nn.modules.linear'
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

_LIBRARY = __name__.partition(".")[0]

# An old module, and the new ones, below gradpack.
_TABLE = """
    autograd.profiler_events autograd.profiling.events
    autograd.profiler_kineto autograd.profiling.kineto
    distributions.constraint      distributions.constraints
    distributions.counts        distributions._counts
    distributions.kl_by_moments distributions._kl_formulas
    distributions.kl_same_family    distributions._kl_formulas
    distributions.location_scale    distributions._location_scale
    distributions.matrices      distributions._matrices
    distributions.odds          distributions._parametrized
    distributions.transform     distributions.transforms distributions._transform
    distributions.transforms_joined     distributions.transforms distributions._transforms_vectors
    distributions.transforms_pointwise  distributions.transforms distributions._transforms_pointwise
    distributions.transforms_vectors    distributions.transforms
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
    optim.adafactor         optim._adafactor
    optim.adaptive          optim.adagrad optim.adadelta optim.rmsprop optim.rprop
    optim.averaging         optim.adamax optim.nadam optim.radam optim.asgd
    optim.by_formula        optim._formula_optimizer optim._options
    optim.kernels           optim._kernels
    optim.lr_base           optim.lr_scheduler
    optim.lr_cycles         optim.lr_scheduler
    optim.lr_factors        optim.lr_scheduler
    optim.lr_plateau        optim.lr_scheduler
    optim.lr_together       optim.lr_scheduler
    optim.muon              optim._muon
    optim.options           optim._options
    profiler.files          profiler.profiler
    profiler.schedules      profiler.profiler
    testing.comparing       testing testing._comparison
    utils.checkpoint_frame  utils._checkpoint.frame
    utils.checkpoint_log    utils._checkpoint.frame
    utils.checkpoint_parts  utils.checkpoint
    utils.data.collate      utils.data._utils.collate
    utils.flop_formulas     utils._flop_formulas
    utils.reentrant_checkpoint  utils.checkpoint
    utils.selective_checkpoint  utils.checkpoint
    tensor.again            core.packed
    tensor.construct        core.copying core.legacy_constructors
    tensor.described        core.properties
    tensor.dropped          core.leaf_lifetime
    tensor.leaf             core.accumulate_grad
    tensor.memory           core.memory_tracking
    tensor.mutation         core.copy_on_write
    tensor.reach            core.copy_on_write
    tensor.sharing          core.shared_memory
    tensor.typed            compat.legacy_types compat.top_level
    tensor.copying          core.copying
    tensor.data             core.data
    tensor.detached         core.saved
    tensor.grad_dtype       core.data
    tensor.hooks            core.hooks
    tensor.node_methods     core.node_methods
    tensor.packed           core.packed
    tensor.parameter        core.parameter
    tensor.printing         core.printing
    tensor.saved            core.saved
    tensor.storage          core.storage
    tensor.swap             core.copying
    tensor.tensor           core.tensor
    tensor.torch_function   core.torch_function
    tensor.views            core.views
    amp.old_names           compat.old_autocast
    base.symbols            compat.symbols
    backends.windows        backends.memory_layout
    cuda_streams            compat.cuda_streams
    saved.codecs            saved.hook_pairs
    saved.extent_file       saved.hook_pairs
    saved.spill             saved.hook_pairs
    saved.nodes_of_torch    saved.torch_graph
    saved.policies.notes    saved.policies.recompute_graph
    saved.budgets.explain   saved.budgets.plans
    saved.recorder.rows     saved.recorder.document
    saved.policies.casts    saved.policies.compress
    saved.policies.cpu      saved.policies.offload
    saved.policies.disk     saved.policies.offload
    saved.policies.lossless     saved.policies.compress
    saved.policies.masks    saved.policies.compress
    saved.policies.pinned   saved.policies.transfers
    ops.pointwise.prelu     ops.pointwise.gated
    ops.predicates          ops.attributes
    ops.special.log_gamma   ops.special.gamma_functions
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
MOVED["tensor"] = ["core"]
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
        """Put the public function of the same name, if there is one, in the place of an old folder."""
        if module.__name__ == f"{_LIBRARY}.tensor":
            function: Any = import_module(_LIBRARY).tensor
            function.__spec__, function.__path__ = module.__spec__, []  # the modules of the folder are asked for
            sys.modules[module.__name__] = function


def find_spec(fullname: str) -> ModuleSpec | None:
    """Return the spec of a module that has moved, and None for any other."""
    return ModuleSpec(fullname, cast("Any", _Loader())) if fullname.partition(".")[2] in MOVED else None
