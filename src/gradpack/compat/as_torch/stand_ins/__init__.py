"""Stand-ins for parts of torch that have no meaning here: fixed answers, no-ops, and refusals."""
