"""The layers, in the modules in which torch has them."""

from ...declare.signature.constructors import explain_constructors as _explain_constructors
from .activation import *
from .adaptive import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .linear import *
from .linear_cross_entropy_options import *
from .loss import *
from .module import Module as Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

# A type checker takes all that is imported for public, as long as it sees no list.
globals()["__all__"] = [n for n, found in globals().items() if isinstance(found, type)]
_explain_constructors([*globals().values()])
