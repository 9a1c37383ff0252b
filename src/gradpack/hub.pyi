from .compat.hub import *
