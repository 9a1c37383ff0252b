"""gradpack under the name `torch`, so that programs with `import torch` run unchanged.

`install_as_torch` puts a finder before those of Python, which answers for `torch` and all that is below it.
Modules of that name are thin: they look names up in gradpack when they are asked for them, and say in a
sentence, with the line that asked, what gradpack does not have. `gradpack run` does it for a whole program.
"""

from .install import Installed, install_as_torch

__all__ = ["Installed", "install_as_torch"]
