"""`save` and `load`: tensors and what holds them, in files that contain data only, never code.

torch's own files are pickles, and unpickling runs whatever their writer wanted. Here a file is an
`.npz` archive, which NumPy reads, or a `.safetensors` file, with a description of the structure in
JSON. Loading one cannot do more than make numbers, strings, containers and tensors.
"""

from .api import load, save

__all__ = ["load", "save"]
