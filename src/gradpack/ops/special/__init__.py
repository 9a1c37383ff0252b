"""Special functions of mathematics: gamma, Bessel, orthogonal polynomials."""
