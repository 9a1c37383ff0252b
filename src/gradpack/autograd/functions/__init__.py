"""The parts of `Function`: its call, context, node, saved tensors, `jvp` and `vmap`."""
