"""Stand-ins for parts of torch that have no meaning here: a table of answers and refusals, and a few functions."""
