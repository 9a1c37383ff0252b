"""The parts of torch that are here only so that programs written for torch run.

`public_modules` is the table of modules that are imported under another name than that of their file. Nothing else in
the library imports from here: `gradpack/__init__.py` looks names up, and `gradpack run` installs `as_torch`.
"""

# Names at the top of `gradpack`, by the module that has them.
PLACES = {
    "as_torch": "install_as_torch",
    "compat.legacy_types": (
        "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor "
        "ShortTensor set_default_tensor_type"
    ),
    "compat.old_autocast": (
        "get_autocast_cpu_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype "
        "is_autocast_cpu_enabled is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_cpu_dtype "
        "set_autocast_cpu_enabled"
    ),
    "compat.symbols": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
    "compat.top_level": (
        "compiled_with_cxx11_abi get_device_module get_file_path get_float32_matmul_precision get_num_interop_threads "
        "is_storage profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 set_float32_matmul_precision set_flush_denormal "
        "set_num_interop_threads typename"
    ),
}

# Folders of gradpack that stand for no module of torch, even one of the same name.
NO_MODULES_OF_TORCH = frozenset("as_torch base cli compat declare examples extend graph kernels saved core ops".split())
