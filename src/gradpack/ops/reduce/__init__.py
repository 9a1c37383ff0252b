"""Operations along dimensions: sums, extremes, running sums, sorting, counting."""
