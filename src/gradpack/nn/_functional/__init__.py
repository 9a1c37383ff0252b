"""The functions of `nn.functional`: operations, and what is more than an operation."""

from ...ops.conv.avg_pool import adaptive_avg_pool1d as adaptive_avg_pool1d
from ...ops.conv.avg_pool import adaptive_avg_pool2d as adaptive_avg_pool2d
from ...ops.conv.avg_pool import adaptive_avg_pool3d as adaptive_avg_pool3d
from ...ops.conv.avg_pool import avg_pool1d as avg_pool1d
from ...ops.conv.avg_pool import avg_pool2d as avg_pool2d
from ...ops.conv.avg_pool import avg_pool3d as avg_pool3d
from ...ops.conv.convolution import conv1d as conv1d
from ...ops.conv.convolution import conv2d as conv2d
from ...ops.conv.convolution import conv3d as conv3d
from ...ops.conv.convolution import conv_tbc as conv_tbc
from ...ops.conv.convolution import conv_transpose1d as conv_transpose1d
from ...ops.conv.convolution import conv_transpose2d as conv_transpose2d
from ...ops.conv.convolution import conv_transpose3d as conv_transpose3d
from ...ops.conv.fold import channel_shuffle as channel_shuffle
from ...ops.conv.fold import fold as fold
from ...ops.conv.fold import native_channel_shuffle as native_channel_shuffle
from ...ops.conv.fold import pixel_shuffle as pixel_shuffle
from ...ops.conv.fold import pixel_unshuffle as pixel_unshuffle
from ...ops.conv.fold import unfold as unfold
from ...ops.nn import embedding_bag as _embedding_bag
from ...ops.nn.affine import bilinear as bilinear
from ...ops.nn.affine import linear as linear
from ...ops.nn.affine_grid import affine_grid as affine_grid
from ...ops.nn.attention import scaled_dot_product_attention as scaled_dot_product_attention
from ...ops.nn.grid_sample import grid_sample as grid_sample
from ...ops.nn.group_norm import local_response_norm as local_response_norm
from ...ops.nn.loss_margin import triplet_margin_with_distance_loss as triplet_margin_with_distance_loss
from ...ops.nn.loss_pointwise import gaussian_nll_loss as gaussian_nll_loss
from ...ops.nn.normalize import layer_norm as layer_norm
from ...ops.nn.normalize import rms_norm as rms_norm
from ...ops.nn.padding import pad as pad
from ...ops.pointwise.activation import hardshrink as hardshrink
from ...ops.pointwise.activation import logsigmoid as logsigmoid
from ...ops.pointwise.activation import softplus as softplus
from ...ops.pointwise.activation import softshrink as softshrink
from ...ops.pointwise.activation import softsign as softsign
from ...ops.pointwise.activation import tanhshrink as tanhshrink
from ...ops.pointwise.exponential import sigmoid as sigmoid
from ...ops.pointwise.gated import celu_ as celu_
from ...ops.pointwise.gated import elu_ as elu_
from ...ops.pointwise.gated import glu as glu
from ...ops.pointwise.gated import hardtanh_ as hardtanh_
from ...ops.pointwise.gated import leaky_relu_ as leaky_relu_
from ...ops.pointwise.gated import prelu as prelu
from ...ops.pointwise.gated import relu_ as relu_
from ...ops.pointwise.gated import rrelu_ as rrelu_
from ...ops.pointwise.gated import selu_ as selu_
from ...ops.pointwise.gated import threshold_ as threshold_
from ...ops.pointwise.trigonometry import tanh as tanh
from ...ops.reduce.distance import cosine_similarity as cosine_similarity
from ...ops.reduce.distance import pairwise_distance as pairwise_distance
from ...ops.reduce.distance import pdist as pdist
from .activations import *
from .attention import *
from .class_losses import *
from .dropout import *
from .grouped_mm import *
from .interpolate import *
from .linear_cross_entropy import *
from .losses import *
from .margin_losses import *
from .normalization import *
from .pooling import *

embedding_bag = _embedding_bag._bags

# A type checker takes all that is imported under its own name for public, as long as it sees no list.
globals()["__all__"] = [name for name, found in globals().items() if callable(found)]
