"""The parts of `Function`: its call and the text of that, context, node, gradients, saved tensors, `jvp` and `vmap`."""
