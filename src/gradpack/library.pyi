from .compat.library import *
