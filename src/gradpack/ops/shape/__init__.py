"""Operations that give the same elements another shape, order, layout or number of tensors."""
