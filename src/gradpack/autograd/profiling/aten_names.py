"""The names of operations in a profile: those that torch's profiler shows for the same calls.

Parts of larger operations for which torch has no name are shown under the name of the whole.
"""

from __future__ import annotations

_NAMES = """
    _adaptive_max_pool2d=adaptive_max_pool2d _adaptive_max_pool3d=adaptive_max_pool3d _all_of=all _all_sparse=all
    _apply_mask=mul _as_strided=as_strided _attention=scaled_dot_product_attention _averages=avg_pool2d
    _averages3d=avg_pool3d _bag_maxima=embedding_bag _bag_sums=embedding_bag _batch_norm=batch_norm
    _batch_stats=batch_norm_stats _celu=celu _channels_shuffled=channel_shuffle _col2im=col2im _contiguous=contiguous
    _conv_input=convolution_backward _conv_weight=convolution_backward
    _conv_output=convolution _coo=sparse_coo_tensor _copied=copy_
    _dense_again=to_dense _dropout=dropout _eigvals=linalg_eigvals _eigvalsh=linalg_eigvalsh _elu=elu
    _embedding=embedding _embedding_sparse=embedding _exp=exp _filled=fill_ _filled_number=fill_
    _fractional_max_pool2d=fractional_max_pool2d _fractional_max_pool3d=fractional_max_pool3d _group_norm=group_norm
    _hspmm=hspmm _im2col=im2col _layer_norm=layer_norm _max_all=max _max_pool2d=max_pool2d _max_pool3d=max_pool3d
    _max_pool_values=max_pool2d
    _max_unpool=max_unpool2d _mean_dim=mean _mean_squared_difference=mse_loss _median_all=median _min_all=min
    _multi_margin=multi_margin_loss _multilabel_margin=multilabel_margin_loss _nanmedian_all=nanmedian
    _over_rows=expand _pick_rows=embedding _place=slice_backward _prelu=prelu _prod_dim=prod _put_rows=index_put_
    _resize_cubic2d=upsample_bicubic2d _resize_cubic_smooth2d=_upsample_bicubic2d_aa
    _resize_linear1d=upsample_linear1d _resize_linear2d=upsample_bilinear2d _resize_linear3d=upsample_trilinear3d
    _resize_linear_smooth2d=_upsample_bilinear2d_aa _resize_lanczos_smooth2d=_upsample_lanczos2d_aa
    _resize_nearest1d=upsample_nearest1d _resize_nearest2d=upsample_nearest2d _resize_nearest3d=upsample_nearest3d
    _resize_nearest_exact1d=_upsample_nearest_exact1d _resize_nearest_exact2d=_upsample_nearest_exact2d
    _resize_nearest_exact3d=_upsample_nearest_exact3d _sampled=grid_sampler _shuffled=pixel_shuffle
    _softshrink=softshrink _sparse_mask=sparse_mask _spmm=mm _spspmm=mm _squared_difference=mse_loss
    _sspaddmm=sspaddmm _sum_dim=sum _svdvals=linalg_svdvals _table_sums=embedding_bag
    _to_copy=to _take_by_class=nll_loss _take_by_class_2d=nll_loss2d
    _take_rows=index_select _transposed=transpose _triple=einsum _unique_dim=unique_dim _values_of=values
    _zeroed=zero_ clamp_to_numbers=clamp div_rounded=div index_add_scale=index_add index_along=index index_pair=index
    index_fill_tensor=index_fill logsigmoid=log_sigmoid masked_fill_tensor=masked_fill masked_keep=masked_fill
    newaxis=unsqueeze slice_newaxis=unsqueeze recurrence=_thnn_fused_gru_cell scatter_value=scatter
    zeros_as=zeros_like place_along=scatter
"""
_KNOWN = dict(pair.split("=") for pair in _NAMES.split())


def aten_name(name: str) -> str:
    """The name of an event: `aten::mul` for `mul`, `aten::sum` for `_sum_dim`."""
    plain = name.removesuffix("_")
    known = _KNOWN.get(name) or _KNOWN.get(plain)
    if known is None:
        return f"aten::{name}"
    return f"aten::{known}_" if name.endswith("_") and not known.endswith("_") else f"aten::{known}"
