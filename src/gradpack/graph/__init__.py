"""Nodes, edges and the traversal. Knows no tensor and no operation."""
