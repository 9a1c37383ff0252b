"""The passes between a recorded program and its text: fewer calls, loops, buffers."""
