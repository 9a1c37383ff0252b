"""Nodes, edges and the backward traversal; independent of tensors and operations."""
