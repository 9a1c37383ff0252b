"""Which operation has which batching rule. Elementwise operations need no line: see `batch_dispatch.rule_of`."""

from __future__ import annotations

from . import rules
from . import rules_indices as indices
from . import rules_layers as layers
from . import rules_matrices as matrices
from .batch_call import Rule, elementwise

_TABLE: dict[Rule, str] = {
    elementwise: """
        bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor logical_and logical_not
        logical_or logical_xor eq ge gt le lt ne isclose isfinite isinf isnan isneginf isposinf isreal signbit gcd lcm
        masked_fill masked_keep where frexp _frexp_backward special_airy_ai special_bessel_j0
        special_bessel_j1 special_bessel_y0 special_bessel_y1 special_modified_bessel_i0 special_modified_bessel_i1
        special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
        special_scaled_modified_bessel_k1 special_spherical_bessel_j0 complex polar
    """,
    rules.simply: """
        _filled_number _zeroed alias _contiguous _fw_primal real imag _to_copy index_add_scale view_as_real
        view_as_complex constant_pad_nd tril triu _counted _slope_of
    """,
    rules.along: """
        _cumsum_from_end cumsum cumprod cummax cummin logcumsumexp flip softmax log_softmax sort argsort topk kthvalue
        mode median nanmedian max min gather gather_backward scatter scatter_add scatter_reduce scatter_extreme
        scatter_hits scatter_prod scatter_value split split_with_sizes unbind unfold unsafe_split
        unsafe_split_with_sizes diagonal diagonal_backward diagonal_scatter recurrence shifted
        _fft_c2c _fft_c2r _fft_r2c _fft_doubled _fft_resized slice_scatter _unfold_backward place_along
        _prod_dim glu
    """,
    rules.reducing: """
        _sum_dim _mean_dim amax amin all any nansum std var std_mean var_mean logsumexp linalg_vector_norm
        count_nonzero ties
    """,
    rules.flattening: "argmax argmin aminmax",
    rules.reduced: """
        binary_cross_entropy binary_cross_entropy_with_logits huber_loss smooth_l1_loss soft_margin_loss
    """,
    rules.squared: "_mean_squared_difference",
    rules.instead("_sum_dim"): "sum",
    rules.instead("_mean_dim"): "mean",
    rules.instead("_prod_dim", several=False): "prod",
    rules.instead("amax"): "_max_all",
    rules.instead("amin"): "_min_all",
    rules.instead("median", several=False, take=0): "_median_all",
    rules.instead("nanmedian", several=False, take=0): "_nanmedian_all",
    rules.trace: "trace",
    rules.diag_embed: "diag_embed",
    rules.roll: "roll",
    rules.cross: "linalg_cross",
    rules.select_scatter: "select_scatter",
    rules.copied: "_copied _filled",
    rules.cloned: "clone",
    rules.sized("shape"): "zeros_as",
    rules.reshape: "reshape",
    rules.expand: "expand",
    rules.repeat: "repeat",
    rules.sum_to_size: "sum_to_size",
    rules.permute: "permute",
    rules.squeeze: "squeeze",
    rules.unsqueeze: "unsqueeze",
    rules.transpose: "transpose",
    rules.transposed: "t",
    rules.subscript: "slice select slice_newaxis newaxis slice_backward",
    rules.part: "_part_taken _part_spread",
    rules.joined: "cat stack",
    matrices.matmul: "matmul mm bmm mv dot",
    matrices.outer: "outer",
    matrices.linear: "linear",
    matrices.by_meaning: """
        addmm addmv addr baddbmm addbmm bilinear dist _thnn_fused_gru_cell _thnn_fused_lstm_cell
    """,
    rules.leading: """

        cholesky_solve linalg_solve_triangular triangular_solve cdist _row_distance
    """,
    rules.alike: """
        cholesky cholesky_inverse linalg_cholesky_ex linalg_det linalg_eig linalg_eigh linalg_inv_ex linalg_lu
        linalg_lu_factor_ex linalg_matrix_exp linalg_pinv linalg_qr linalg_slogdet linalg_svd _eigvals _eigvalsh
        _svdvals lu_unpack geqrf linalg_ldl_factor_ex
    """,
    matrices.cores(2, 1): "linalg_householder_product",
    matrices.cores(2, 1, 2): "linalg_lu_solve linalg_ldl_solve",
    matrices.solve: "linalg_solve_ex",
    matrices.least_squares: "linalg_lstsq",
    rules.renorm: "renorm",
    rules.masked_fill_tensor: "masked_fill_tensor",
    matrices.triple: "_triple",
    rules.embedding: "_embedding",
    rules.refused: "nonzero _unique2 _unique_dim",
    rules.masked: "masked_select",
    rules.masked_back: "masked_select_backward",
    indices.index: "index",
    indices.index_back: "index_backward",
    indices.index_put: "index_put index_put_backward",
    indices.index_listed: "index_along index_along_backward index_pair index_pair_backward",
    indices.index_select: "index_select index_select_backward",
    indices.index_write: "index_add index_copy index_fill index_fill_tensor",
    indices.at_numbers: "take put put_backward",
    indices.isin: "isin",
    indices.searchsorted: "searchsorted",
    layers.convolution: "convolution",
    layers.conv_weight: "_conv_weight",
    layers.conv_gradient: "_conv_input _conv_output",
    layers.images(1): "reflection_pad1d replication_pad1d",
    layers.images(2): "reflection_pad2d replication_pad2d",
    layers.images(3): "reflection_pad3d replication_pad3d",
    layers.folded: """
        product_each linear_each
        _adaptive_avg_pool2d _adaptive_avg_pool3d _adaptive_back _averages _averages3d _averages_back
        _channels_shuffled _col2im _im2col _max_gather _max_scatter _max_unpool _repad _unpad
        _resize_cubic2d _resize_cubic_smooth2d _resize_lanczos_smooth2d _resize_linear1d _resize_linear2d
        _resize_linear3d _resize_linear_smooth2d _resize_nearest1d _resize_nearest2d _resize_nearest3d
        _resize_nearest_exact1d _resize_nearest_exact2d _resize_nearest_exact3d _resized_back _shuffled _shuffled_back
        _max_pool2d _max_pool3d _max_pool_values _pool_indices _adaptive_max_pool2d _adaptive_max_pool3d
            """,
    layers.at_places: "_read_at _spread_at _products_at",
    layers.by_class: "_take_by_class _take_by_class_2d _put_by_class",
    layers.layer_norm: "_layer_norm",
    layers.group_norm: "_group_norm",
    layers.batch_norm: "_batch_norm",
    layers.batch_stats: "_batch_stats",
    layers.dropout: "_dropout",
    layers.drawn: "poisson _standard_gamma rrelu",
    layers.apply_mask: "_apply_mask",
    layers.embedding_back: "embedding_dense_backward",
    layers.attention: "_attention",
}

RULES: dict[str, Rule] = {name: rule for rule, names in _TABLE.items() for name in names.split()}
