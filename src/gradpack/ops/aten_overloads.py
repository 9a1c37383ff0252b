"""The overloads that torch's dispatcher has of operations, where they are not one that is called "default"."""

from __future__ import annotations

# Overloads, the usual one first, and the operations that have them: also the one that ends in `_`, unless it differs.
_ROWS = """
Tensor Scalar: add sub mul eq ne lt le gt ge fmod rsub lshift copysign float_power_ floor_divide_ multiply subtract
Tensor Scalar: true_divide greater greater_equal less less_equal not_equal bucketize searchsorted pow_
Tensor Scalar Scalar_Tensor: remainder bitwise_and bitwise_or bitwise_xor
Tensor Tensor_Scalar Scalar_Tensor: bitwise_left_shift bitwise_right_shift
Tensor: index _unsafe_index slice frexp ldexp slice_copy split_copy unsafe_split
default Scalar: floor_divide
default Tensor: clamp clamp_max clamp_min clip narrow
default dim: median nanmedian mean nuclear_norm
default dim other: max min
default dim dims: any all squeeze squeeze_copy
default correction dim: var std var_mean std_mean
default dim_IntList: sum count_nonzero
default dim_int: prod
default dtype: view view_copy mm bmm addmm baddbmm
default generator: rand rand_like randn randn_like randperm
default generator low low_generator: randint
default low_dtype: randint_like
default p Tensor: bernoulli
float Tensor: bernoulli_
default from to: random_
default start start_step: arange
default step: range
default periodic: bartlett_window blackman_window hann_window
default periodic periodic_alpha periodic_alpha_beta: hamming_window
default periodic beta: kaiser_window
default Tensor_Tensor Tensor_Scalar Scalar_Tensor: linspace logspace
default Sequence: atleast_1d atleast_2d atleast_3d
default padding: conv1d conv2d conv3d
default padding_idx: embedding_bag
default vec: upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d
default vec: upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d
default vec: _upsample_nearest_exact3d _upsample_bilinear2d_aa
default deprecated: _convolution
default no_stats: _native_batch_norm_legit
default decimals: round
default stable: argsort sort
default m: eye
default scalar: quantile nanquantile
default other_scalar self_scalar: special_xlog1py special_zeta special_xlogy
default indexing: meshgrid
default center: stft
default source_Tensor source_Storage source_Storage_storage_offset source_Tensor_storage_offset: set_
default sparse_dim: to_sparse
Scalar Tensor: lerp masked_fill fill
Scalar Tensor List ScalarList: _foreach_add _foreach_sub _foreach_mul _foreach_div
Scalar List ScalarList: _foreach_clamp_max _foreach_clamp_min _foreach_maximum _foreach_minimum
Tensor Scalar Tensor_mode Scalar_mode: div divide
Tensor_Tensor Tensor_Scalar Scalar: pow float_power
Tensor_Tensor Tensor_Scalar Scalar_Tensor: isin
Tensor Scalar_Self Scalar_Other: xlogy
Tensor_Tensor Tensor_float float_Tensor float_float: normal
Scalar ScalarOpt_dim ScalarOpt_dim_dtype ScalarOpt_dtype: norm
int: select softmax log_softmax transpose unbind select_copy transpose_copy unbind_copy unflatten size stride
int: sym_size sym_stride
int array: hsplit vsplit dsplit
int intlist: movedim moveaxis
int_Scalar int_Tensor: index_fill
IntList Tensor: ctc_loss
input: conv_transpose2d conv_transpose3d gru lstm rnn_relu rnn_tanh
memory_format: empty
using_ints: flatten
x dx: trapezoid trapz cumulative_trapezoid
src value reduce value_reduce: scatter
two: scatter_reduce
Tensor sizes: split
sections indices tensor_indices_or_sections: tensor_split
self_int self_Tensor Tensor: repeat_interleave
self ScalarSelf ScalarOther Scalar: where
dtype device other: to
"""
OVERLOADS = {
    name: tuple(overloads.split())
    for overloads, _, names in (row.partition(": ") for row in _ROWS.strip().splitlines())
    for name in names.split()
}
OVERLOADS |= dict.fromkeys("ldexp_ normal_ transpose_".split(), ("default",))
