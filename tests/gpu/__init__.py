"""What holds on CUDA devices: on real ones with GRADPACK_GPU=1 (`make test-gpu`), else on the stand-in for CuPy."""
