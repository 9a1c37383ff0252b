"""Operations that compute each element by itself, with broadcasting."""
