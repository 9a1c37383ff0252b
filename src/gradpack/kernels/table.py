"""The table of kernels: functions of `ops`, and what is faster for which arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import conditions as when
from . import product_conditions as products
from .conditions import ENOUGH, MANY, alike

LARGE = 4096  # elements: below this calls cost more than passes over memory
FEW = 256  # `dispatch.LEAST`: a loop over blocks of scores pays early


PLACES = 1024
SUMS = 1 << 17  # elements: to add them up takes a few steps on a core
GATES = ENOUGH // 4  # elements of gates, over which NumPy makes a dozen passes
HEADS = 1 << 16  # elements of queries of a part
IMAGES = 1 << 17  # elements of images of a part
PRODUCT = 2049  # elements of both factors: below this BLAS uses one thread


class Kernel(NamedTuple):
    """A function that stands in for another.

    Attributes:
        library: what it is written with: the name of what is imported, and of a folder here.
        function: where it is in that folder: `module.function`. It takes the same arguments, and may return
            NotImplemented.
        when: whether it takes these arguments. The first one is an array of NumPy's with enough elements.
        least: elements of the first argument.
        results: how results of parts of the first dimension make up those of the whole, for all cores: a letter for
            each result, "j" for joined, "r" for joined where rows must be whole, and "s" for added up. Empty: the
            kernel gets whole arrays.
        arrays: how many arguments may be divided, those that have the number of dimensions and the length of the first.
        part: elements of the first argument in a part, at most.
    """

    library: str
    function: str
    when: Callable[..., bool] = alike
    least: int = ENOUGH
    results: str = ""
    arrays: int = 1
    part: int = 1 << 19


OF_ROWS = Kernel("numba", "rows.sums_of_rows", when.short_rows, SUMS)
OVER_ROWS = Kernel("numba", "rows.sum_over_rows", when.many_rows_of_numbers, SUMS)
TABLE: dict[str, tuple[Kernel, ...]] = {
    "kernels.sums.sums_of_rows": (OF_ROWS,),
    "kernels.sums.sum_over_rows": (OVER_ROWS,),
    "ops.reduce.kernels.of_rows": (OF_ROWS,),
    "ops.reduce.kernels.over_rows": (OVER_ROWS,),
    "kernels.sums.added": (Kernel("numba", "elementwise.added", when.updates),),
    "kernels.sums.added_to_rows": (Kernel("numba", "elementwise.added_to_rows", when.updates),),
    "ops.nn.affine.affine": (
        Kernel("numba", "products.affine", products.affine_of_many, PRODUCT),
        Kernel("blocks", "products.affine", products.affine_of_blas, PRODUCT),
    ),
    "ops.nn.normalize.normalized_rows": (
        Kernel("numba", "normalization.normalized_rows"),
        Kernel("blocks", "layer_norm.normalized_rows", when.blocks_of_rows, LARGE, results="rjj"),
    ),
    "ops.nn.normalize.normalized_rows_backward": (
        Kernel("numba", "normalization.normalized_rows_backward"),
        Kernel("blocks", "layer_norm.normalized_rows_backward", when.blocks_of_rows, LARGE, results="rss", arrays=5),
    ),
    "ops.nn.batch_norm.moments": (Kernel("numba", "normalization.moments", when.channels),),
    "ops.nn.batch_norm.normalized_channels": (Kernel("numba", "normalization.normalized_channels", when.channels),),
    "ops.nn.batch_norm.normalized_channels_backward": (
        Kernel("numba", "normalization.normalized_channels_backward", when.channels),
    ),
    "ops.nn.group_norm.normalized_groups": (Kernel("numba", "normalization.normalized_groups", when.channels),),
    "ops.nn.group_norm.normalized_groups_backward": (
        Kernel("numba", "normalization.normalized_groups_backward", when.channels),
    ),
    "ops.nn.lstm_gates.gates_forward": (Kernel("numba", "recurrent.gates_forward", when.single_rows, GATES),),
    "ops.nn.lstm_gates.gates_backward": (Kernel("numba", "recurrent.gates_backward", when.single_rows, GATES // 4),),
    "ops.nn.attention.attend": (
        Kernel("numba", "attention.attend", when.single_without_mask),
        Kernel("numba", "attention.attend", when.single_attention, results="jj", arrays=7, part=HEADS),
        Kernel("blocks", "attention.attend", when.attention, FEW, results="jj", arrays=7, part=HEADS),
    ),
    "ops.nn.attention.attend_backward": (
        Kernel("numba", "attention.attend_backward", when.single_backward_without_mask),
        Kernel(
            "numba", "attention.attend_backward", when.single_attention_backward, results="jjjj", arrays=10, part=HEADS
        ),
        Kernel(
            "blocks", "attention.attend_backward", when.attention_backward, FEW, results="jjjj", arrays=10, part=HEADS
        ),
    ),
    "backends.numpy.product": (
        Kernel("numba", "products.product", products.product_of_many, PRODUCT),
        Kernel("numba", "products.by_vector", products.product_by_vector, PRODUCT),
        Kernel("blocks", "products.product", products.product_of_blas, PRODUCT),
    ),
    "ops.pointwise.error_function.erf_of": (Kernel("numba", "elementwise.erf", when.single),),
    "ops.pointwise.error_function.erfc_of": (Kernel("numba", "elementwise.erfc", when.single),),
    "ops.pointwise.error_function.gelu_of": (Kernel("numba", "elementwise.gelu", when.single),),
    "ops.pointwise.error_function.gelu_gradient_of": (
        Kernel("numba", "elementwise.gelu_gradient", when.single_same_shape),
    ),
    "ops.pointwise.division.remainder_of": (Kernel("numba", "elementwise.remainder", when.divisor),),
    "ops.pointwise.division.fmod_of": (Kernel("numba", "elementwise.fmod", when.divisor),),
    "ops.pointwise.gated.gated": (Kernel("numba", "elementwise.gated", when.single),),
    "ops.pointwise.gated.gated_backward": (Kernel("numba", "elementwise.gated_backward", when.single),),
    "ops.pointwise.gated.rectified": (Kernel("numba", "elementwise.rectified", when.slopes),),
    "ops.special.large_arrays.erfinv_of": (Kernel("numba", "elementwise.erfinv", when.single),),
    "ops.special.large_arrays.lgamma_of": (Kernel("numba", "elementwise.lgamma", when.single),),
    "ops.special.large_arrays.digamma_of": (Kernel("numba", "elementwise.digamma", when.single),),
    "ops.special.large_arrays.trigamma_of": (Kernel("numba", "elementwise.trigamma", when.single),),
    "ops.reduce.cumulate.running_sums": (
        Kernel("numba", "rows.running_sums", when.last_single),
        Kernel("blocks", "cumsum.running_sums", when.stretches),
    ),
    "ops.reduce.cumulate.running_products": (Kernel("numba", "rows.running_products", when.many_lines),),
    "ops.reduce.cumulate.running_extremes": (Kernel("numba", "rows.running_extremes", when.many_lines),),
    "ops.reduce.cumulate.recurrence_along": (Kernel("numba", "rows.recurrence_along", when.recurrence),),
    "ops.reduce.softmax.softmax_along": (Kernel("numba", "rows.softmax", when.rows_of_single),),
    "ops.reduce.softmax.log_softmax_along": (Kernel("numba", "rows.log_softmax", when.rows_of_single),),
    "ops.reduce.softmax.softmax_slope": (Kernel("numba", "rows.softmax_slope", when.slopes_of_rows),),
    "ops.reduce.softmax.log_softmax_slope": (Kernel("numba", "rows.log_softmax_slope", when.slopes_of_rows),),
    "ops.reduce.kernels.products_of_rows": (Kernel("numba", "rows.products_of_rows"),),
    "ops.reduce.kernels.take_in_rows": (Kernel("numba", "places.take_in_rows", when.dense_table),),
    "ops.reduce.kernels.add_in_rows": (
        Kernel("numba", "places.add_in_rows", when.into_rows),
        Kernel("scipy", "row_products.add_in_rows", when.into_rows_of_any_table, MANY),
    ),
    "ops.reduce.kernels.set_in_rows": (Kernel("numba", "places.set_in_rows", when.into_rows),),
    "ops.reduce.bins.count_in_bins": (Kernel("numba", "places.count_in_bins"),),
    "ops.reduce.order.top": (Kernel("numba", "places.top", when.few_first),),
    "ops.index.accumulate.add_numbers": (Kernel("numba", "places.add_numbers", when.into_vector, MANY),),
    "ops.index.accumulate.add_wide": (
        Kernel("numba", "places.add_wide", when.whole_rows, MANY),
        Kernel("scipy", "row_products.add_wide", when.whole_rows, MANY),
    ),
    "ops.index.scatter_reduce.put_extremes": (Kernel("numba", "places.put_extremes", when.into_places),),
    "ops.nn.embedding_bag.summed_rows": (
        Kernel("numba", "places.summed_rows", when.many_rows),
        Kernel("scipy", "row_products.summed_rows", when.many_rows, FEW),
    ),
    "ops.conv.correlate.correlate": (
        Kernel("numba", "convolution.correlate", when.convolution),
        Kernel("blocks", "convolution_rows.correlate", when.windows, PLACES, results="j", part=IMAGES),
    ),
    "ops.conv.correlate.correlate_input": (Kernel("numba", "convolution.correlate_input", when.convolution_input),),
    "ops.conv.correlate.correlate_weight": (
        Kernel("numba", "convolution.correlate_weight", when.convolution_weight),
        Kernel("blocks", "convolution_flat.correlate_weight", when.windows, PLACES, results="s", arrays=2, part=IMAGES),
    ),
    "ops.pointwise.relu_bits.bits_of": (Kernel("numba", "elementwise.bits_of", when.updates),),
    "ops.pointwise.relu_bits.ones_of": (Kernel("numba", "elementwise.ones_of", when.bits, ENOUGH // 8),),
    "ops.conv.pool_kernels.max_with_codes": (Kernel("numba", "images.max_with_codes", when.image_windows),),
    "ops.conv.pool_kernels.max_place": (Kernel("numba", "images.max_place", when.image_codes),),
    "backends.numpy.as_native": (Kernel("numba", "conversions.as_native", when.half_and_single),),
    "saved.policies.quantize.extremes": (Kernel("numba", "conversions.extremes"),),
    "saved.policies.quantize.whole_numbers": (Kernel("numba", "conversions.whole_numbers", when.noisy_codes),),
    "saved.policies.quantize.numbers": (Kernel("numba", "conversions.numbers", when.noisy_numbers),),
    "ops.shape.join.joined": (Kernel("numba", "copies.joined", when.to_lay_out),),
    "ops.shape.memory_formats.row_major": (Kernel("numba", "copies.row_major", when.to_lay_out, 1 << 16),),
    "ops.index.masked.filled": (Kernel("numba", "elementwise.filled", when.to_fill),),
    "ops.nn.dropped.masked": (Kernel("numba", "elementwise.masked", when.masked),),
    "ops.nn.along.summed_taps": (Kernel("numba", "images.summed_taps"),),
    "ops.nn.padding.bordered": (Kernel("numba", "images.bordered", when.borders),),
    "ops.nn.padding.unbordered": (Kernel("numba", "images.unbordered", when.borders_back),),
    "optim._kernels.adam_updates": (Kernel("numba", "optimizers.adam_updates", when.updates_of_many, FEW),),
    "optim._kernels.sgd_updates": (Kernel("numba", "optimizers.sgd_updates", when.updates_of_many, 1 << 14),),
    "ops.nn.grid_sample.read_at": (Kernel("numba", "places.read_at", when.places),),
    "ops.nn.grid_sample.add_at": (Kernel("numba", "places.add_at", when.places_to_fill),),
    "ops.nn.grid_sample.products_at": (Kernel("numba", "places.products_at", when.places),),
}
