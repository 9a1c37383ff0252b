"""What the modules give that are imported at first use: written by `python -m gradpack.ops.methods`."""
# ruff: noqa: E501 - lists of words

# module: (functions that gradpack exports, attributes of Tensor, operations)
LAZY: dict[str, tuple[str, str, str]] = {
    "activation": (
        "celu hardshrink relu relu_ selu threshold",
        "hardshrink relu relu_",
        "_celu _elu _flat_gradient _softshrink acos acosh asin asinh atan atan2 atanh cos cosh deg2rad gelu gelu_backward hardshrink hardsigmoid hardswish hardtanh hypot leaky_relu logsigmoid mish rad2deg relu silu sin sinc sinh softplus tan tanh threshold",
    ),
    "affine": (
        "",
        "",
        "_over_rows _triple bilinear linear",
    ),
    "attention": (
        "",
        "",
        "_apply_mask _attention _dropout bmm dot log_softmax logsumexp matmul mm mv outer softmax",
    ),
    "dropout": (
        "alpha_dropout alpha_dropout_ dropout dropout_ feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ native_dropout",
        "",
        "",
    ),
    "einsum": (
        "einsum",
        "",
        "",
    ),
    "embedding": (
        "",
        "",
        "_embedding _embedding_sparse _pick_rows _rows_at embedding_dense_backward embedding_sparse_backward",
    ),
    "generator": (
        "Generator default_generator get_rng_state initial_seed manual_seed seed set_rng_state",
        "",
        "",
    ),
    "index_dim": (
        "index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_select take take_along_dim",
        "index_add index_add_ index_copy index_copy_ index_fill index_fill_ index_select take take_along_dim",
        "index_add index_add_scale index_copy index_fill index_fill_tensor index_select index_select_backward take",
    ),
    "inplace_functions": (
        "as_strided_ detach_ fill_ resize_as_ zero_",
        "",
        "",
    ),
    "linalg": (
        "bmm dot ger inner matmul mm mv outer tensordot vdot",
        "__matmul__ __rmatmul__ bmm dot ger inner matmul mm mv outer vdot",
        "",
    ),
    "linalg_addmm": (
        "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
        "addbmm addbmm_ addmm addmm_ addmv addmv_ addr addr_ baddbmm baddbmm_",
        "addbmm addmm addmv addr baddbmm",
    ),
    "loss": (
        "",
        "",
        "_mean_squared_difference _put_by_class _squared_difference _take_by_class _take_by_class_2d",
    ),
    "normalize": (
        "layer_norm rms_norm",
        "",
        "_layer_norm",
    ),
    "predicates": (
        "is_conj is_inference is_neg is_nonzero is_same_size",
        "",
        "",
    ),
    "random": (
        "bernoulli multinomial normal rand randn",
        "bernoulli multinomial",
        "",
    ),
    "random_integers": (
        "randint randperm",
        "",
        "",
    ),
    "fill_random": (
        "bernoulli_ normal_",
        "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_",
        "",
    ),
    "put": (
        "put put_",
        "put put_",
        "put put_backward",
    ),
    "relayout": (
        "",
        "_view_func apply_ as_strided_ fill_diagonal_ is_set_to is_shared map2_ map_ resize_ resize_as_ set_ share_memory_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_ untyped_storage",
        "_as_strided _contiguous _part_spread _part_taken _unfold_backward unfold",
    ),
    "softmax": (
        "log_softmax logsumexp softmax",
        "log_softmax logsumexp softmax",
        "",
    ),
    "strided": (
        "as_strided",
        "as_strided contiguous unfold",
        "",
    ),
    "trigonometry": (
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_ hypot hypot_ rad2deg rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_ tanh tanh_",
        "acos acos_ acosh acosh_ arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ asin asin_ asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ cos cos_ cosh cosh_ deg2rad deg2rad_ hypot hypot_ rad2deg rad2deg_ sin sin_ sinc sinc_ sinh sinh_ tan tan_ tanh tanh_",
        "",
    ),
    "avg_pool": (
        "adaptive_avg_pool1d avg_pool1d",
        "",
        "_adaptive_avg_pool2d _adaptive_avg_pool3d _adaptive_back _adaptive_max_pool2d _adaptive_max_pool3d _averages _averages3d _averages_back _flat_pick _flat_place _max_gather _max_pool2d _max_pool3d _max_pool_values _max_scatter _max_unpool _pool_indices",
    ),
    "batch_norm": (
        "_native_batch_norm_legit batch_norm instance_norm native_batch_norm",
        "",
        "_batch_norm _batch_stats _conv_input _conv_output _conv_weight convolution",
    ),
    "convolution": (
        "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution",
        "",
        "_repad _unpad constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d",
    ),
    "embedding_bag": (
        "embedding_bag",
        "",
        "_bag_maxima _bag_sums _put_rows _rows_of_bags _table_sums _take_rows",
    ),
    "fold": (
        "channel_shuffle native_channel_shuffle pixel_shuffle pixel_unshuffle",
        "",
        "_channels_shuffled _col2im _im2col _shuffled _shuffled_back",
    ),
    "grid_sample": (
        "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
        "",
        "_place _products_at _read_at _resize_cubic2d _resize_cubic_smooth2d _resize_lanczos_smooth2d _resize_linear1d _resize_linear2d _resize_linear3d _resize_linear_smooth2d _resize_nearest1d _resize_nearest2d _resize_nearest3d _resize_nearest_exact1d _resize_nearest_exact2d _resize_nearest_exact3d _resized_back _slope_of _spread_at",
    ),
    "group_norm": (
        "group_norm native_group_norm native_layer_norm",
        "",
        "_group_norm",
    ),
    "max_pool": (
        "adaptive_max_pool1d max_pool1d max_pool1d_with_indices max_pool2d max_pool3d",
        "",
        "",
    ),
    "padding": (
        "constant_pad_nd",
        "",
        "",
    ),
    "bessel": (
        "i0 i0_",
        "i0 i0_",
        "i0 special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_i0e special_i1 special_i1e special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0",
    ),
    "binary_numbers": (
        "frexp gcd gcd_ lcm lcm_ ldexp ldexp_ nextafter nextafter_",
        "frexp gcd gcd_ lcm lcm_ ldexp ldexp_ nextafter nextafter_",
        "_frexp_backward frexp gcd lcm ldexp nextafter",
    ),
    "log_gamma": (
        "digamma digamma_ lgamma lgamma_ polygamma polygamma_",
        "digamma digamma_ lgamma lgamma_ polygamma polygamma_",
        "digamma lgamma polygamma",
    ),
    "gamma_functions": (
        "igamma igamma_ igammac igammac_ mvlgamma mvlgamma_",
        "igamma igamma_ igammac igammac_ mvlgamma mvlgamma_",
        "igamma igammac mvlgamma special_zeta",
    ),
    "spectrogram": (
        "istft stft",
        "istft stft",
        "_fft_c2c _fft_c2r _fft_doubled _fft_r2c _fft_resized",
    ),
    "windows": (
        "bartlett_window blackman_window hamming_window hann_window kaiser_window",
        "",
        "",
    ),
    "integrate": (
        "cumulative_trapezoid gradient trapezoid trapz",
        "",
        "",
    ),
    "quantiles": (
        "nanquantile quantile",
        "nanquantile quantile",
        "",
    ),
    "unique": (
        "isin mode unique unique_consecutive",
        "isin mode unique unique_consecutive",
        "_unique2 _unique_dim isin mode",
    ),
    "bins": (
        "bincount histc histogram histogramdd",
        "bincount histc histogram",
        "histc",
    ),
    "search": (
        "bucketize searchsorted",
        "",
        "searchsorted",
    ),
    "index_reduce": (
        "_unsafe_masked_index _unsafe_masked_index_put_accumulate index_reduce index_reduce_",
        "index_reduce index_reduce_",
        "",
    ),
    "copies": (
        "alias_copy as_strided_copy detach_copy diagonal_copy expand_copy narrow_copy permute_copy select_copy slice_copy split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy",
        "narrow_copy",
        "",
    ),
    "stacks": (
        "atleast_1d atleast_2d atleast_3d column_stack dstack hstack row_stack vstack",
        "",
        "",
    ),
    "layout": (
        "_chunk_cat as_strided_scatter empty_permuted fill nonzero_static resolve_neg unravel_index",
        "__idiv__ __rdiv__ as_strided_scatter nonzero_static resolve_neg",
        "",
    ),
    "segments": (
        "_segment_reduce _softmax_backward_data segment_reduce",
        "",
        "",
    ),
    "distance": (
        "cdist dist pdist renorm renorm_",
        "dist renorm renorm_",
        "_row_distance cdist dist renorm",
    ),
    "linalg_det": (
        "det logdet slogdet",
        "det logdet slogdet",
        "_eigvals _eigvalsh _svdvals linalg_det linalg_eig linalg_eigh linalg_inv_ex linalg_slogdet linalg_solve_ex linalg_svd",
    ),
    "linalg_factor": (
        "cholesky qr",
        "cholesky qr",
        "cholesky cholesky_inverse cholesky_solve linalg_cholesky_ex linalg_qr linalg_solve_triangular triangular_solve",
    ),
    "linalg_householder": (
        "geqrf orgqr ormqr",
        "geqrf orgqr ormqr",
        "geqrf linalg_householder_product",
    ),
    "linalg_least_squares": (
        "pinverse",
        "pinverse",
        "linalg_lstsq linalg_pinv",
    ),
    "linalg_lowrank": (
        "lobpcg pca_lowrank svd_lowrank",
        "",
        "",
    ),
    "linalg_lu": (
        "lu lu_solve lu_unpack",
        "lu lu_solve",
        "linalg_lu linalg_lu_factor_ex linalg_lu_solve lu_unpack",
    ),
    "linalg_norm": (
        "frobenius_norm nuclear_norm",
        "",
        "",
    ),
    "sparse": (
        "sparse_coo_tensor",
        "_coalesced_ _dimI _dimV _indices _nnz _values coalesce dense_dim indices is_coalesced sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ to_dense to_sparse to_sparse_coo values",
        "_all_sparse _at_places_of _coalesce _coo _dense_again _dense_masked_like _entries_and_others _masked_like _sparse_mask _to_dense _to_dense_unmasked _to_sparse _values_at _values_at_like _values_of",
    ),
    "sparse_products": (
        "hspmm smm sspaddmm",
        "smm sspaddmm",
        "_all_of _hspmm _sampled _sparse_sum _spmm _spread _spread_all _spspmm _sspaddmm _transposed",
    ),
    "sparse_softmax": (
        "",
        "",
        "_exp _lines _log_softmax _softmax",
    ),
    "linalg_solve": (
        "inverse",
        "inverse",
        "",
    ),
    "linalg_svd": (
        "svd",
        "svd",
        "",
    ),
    "linalg_triangular": (
        "cholesky_inverse cholesky_solve triangular_solve",
        "cholesky_inverse cholesky_solve triangular_solve",
        "",
    ),
    "linalg_vectors": (
        "cross vander",
        "cross",
        "linalg_cross",
    ),
    "matrix_functions": (
        "chain_matmul kron matrix_exp matrix_power trace",
        "kron matrix_exp matrix_power trace",
        "linalg_matrix_exp trace",
    ),
    "statistics": (
        "cartesian_prod combinations corrcoef cov",
        "corrcoef cov",
        "polar",
    ),
    "loss_pointwise": (
        "binary_cross_entropy_with_logits hinge_embedding_loss kl_div poisson_nll_loss",
        "",
        "binary_cross_entropy binary_cross_entropy_with_logits huber_loss smooth_l1_loss soft_margin_loss",
    ),
    "loss_margin": (
        "cosine_embedding_loss margin_ranking_loss triplet_margin_loss",
        "",
        "_multi_margin _multilabel_margin",
    ),
    "ctc": (
        "ctc_loss",
        "",
        "_ctc_loss",
    ),
    "similarity": (
        "cosine_similarity pairwise_distance",
        "",
        "",
    ),
    "gated": (
        "celu_ rrelu rrelu_ selu_ threshold_",
        "",
        "glu rrelu",
    ),
    "recurrent": (
        "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
        "",
        "",
    ),
    "reparametrize": (
        "_weight_norm norm_except_dim",
        "",
        "",
    ),
    "sampling": (
        "_sample_dirichlet _standard_gamma binomial poisson",
        "",
        "_igamma_in_shape _standard_gamma poisson",
    ),
    "implicit": (
        "_dirichlet_grad _standard_gamma_grad",
        "",
        "_beta_slope",
    ),
    "exchange": (
        "from_dlpack frombuffer to_dlpack",
        "__dlpack__ __dlpack_device__",
        "",
    ),
    "broadcasting": (
        "broadcast_shapes broadcast_tensors broadcast_to",
        "broadcast_to",
        "",
    ),
    "hashing": (
        "hash_tensor",
        "hash_tensor",
        "hash_tensor",
    ),
    "numpy_protocol": (
        "",
        "__array__ __array_function__ __array_ufunc__ __array_wrap__ __cuda_array_interface__",
        "",
    ),
    "prelu": (
        "prelu",
        "prelu",
        "_prelu",
    ),
    "ranges": (
        "arange linspace logspace range",
        "",
        "",
    ),
    "new_tensors": (
        "",
        "new_empty new_empty_strided new_full new_ones new_tensor new_zeros",
        "",
    ),
    "random_like": (
        "rand_like randint_like randn_like",
        "",
        "",
    ),
    "forward_mode": (
        "",
        "",
        "_fw_primal",
    ),
    "attributes": (
        "eig get_device lstsq matrix_rank solve symeig",
        "_is_laid_out col_indices const_data_ptr crow_indices dequantize dim_order eig ipu is_distributed is_ipu is_maia is_mkldnn is_mps is_mtia is_nonzero is_sparse_csr is_vulkan is_xla is_xpu lstsq module_load new record_stream reinforce resize resize_as solve storage storage_type symeig xpu",
        "",
    ),
    "examples_products": (
        "",
        "",
        "linear_each product_each",
    ),
    "complex_from_parts": (
        "complex polar",
        "",
        "",
    ),
    "differences": (
        "diff",
        "diff",
        "",
    ),
}
