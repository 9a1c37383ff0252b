"""The first elements in order, found one after another where there are few."""

from __future__ import annotations

import math

import gradpack as torch


def test_topk_takes_each_element_once_where_the_least_number_is_among_them():
    """Elements that were found are hidden behind the least number there is: those that equal it are told apart."""
    for least, one in ((-math.inf, 1.0), (torch.iinfo(torch.int64).min, 1)):
        values, indices = torch.topk(torch.tensor([least, least, one, least, least, least]), 2)
        assert values.tolist() == [one, least] and indices[0] == 2 and indices[1] != 2
    values, indices = torch.topk(torch.tensor([[1.0, math.nan, 3.0, 2.0, 3.0, 0.0]]), 2)
    assert math.isnan(values[0, 0]) and values[0, 1] == 3 and indices.tolist() == [[1, 2]]
