"""In-place forms: what they refuse, what they count, and those that change sizes and strides only."""

from __future__ import annotations

import warnings

import pytest


def test_messages(torch):
    x = torch.ones(3, requires_grad=True)
    leaf = "^a leaf Variable that requires grad is being used in an in-place operation.$"
    for write in (lambda: x.add_(1), lambda: x.zero_(), lambda: x.t_(), lambda: x.unsqueeze_(0), lambda: x.normal_()):
        with pytest.raises(RuntimeError, match=leaf):
            write()
    with pytest.raises(RuntimeError, match=r"^result type Float can't be cast to the desired output type Long$"):
        torch.ones(2, dtype=torch.int64).add_(0.5)
    with pytest.raises(RuntimeError, match=r"doesn't match the broadcast shape \[3, 2\]$"):
        torch.ones(2).add_(torch.ones(3, 2))
    with pytest.raises(RuntimeError, match=r"^cannot resize variables that require grad"):
        x.resize_(2)
    with pytest.raises(RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad"):
        x.apply_(abs)


def test_message_of_a_value_written_to_before_backward(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * y
    y.add_(1)
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    text = str(caught.value)
    assert (
        "[torch.FloatTensor [2]], which is output 0 of Add, is at version 2; expected version 0 instead. Hint: " in text
    )


def test_elements_that_share_their_place(torch):
    message = "more than one element of the written-to tensor refers to a single memory location"
    for write in (
        lambda t: t.add_(1),
        lambda t: t.copy_(torch.ones(3)),
        lambda t: t.exp_(),
        lambda t: t.index_add_(0, torch.tensor([0]), torch.ones(1)),
        lambda t: t.scatter_(0, torch.tensor([0]), 1.0),
        lambda t: torch.add(torch.ones(3), 1, out=t),
        lambda t: t.detach().add_(1),
    ):
        base = torch.ones(1)
        with pytest.raises(RuntimeError, match=message):
            write(base.expand(3))
        assert base.item() == 1
    base = torch.ones(1, 3)
    base.expand(1, 3).add_(1)
    base.expand(2, 3)[0].add_(1)
    base.expand(2, 3).fill_(5)
    assert base.tolist() == [[5.0, 5.0, 5.0]]
    with pytest.warns(UserWarning, match="masked_fill_ on expanded tensors is deprecated"):
        base.expand(2, 3).masked_fill_(torch.tensor([True, False, False]), 0)
    assert base.tolist() == [[0.0, 5.0, 5.0]]


def test_operands_that_overlap_in_part(torch):
    message = "some elements of the input tensor and the written-to tensor refer to a single memory location"
    x = torch.arange(4.0)
    m = torch.arange(4.0).view(2, 2)
    for write in (
        lambda: x[1:].add_(x[:-1]),
        lambda: x[1:].copy_(x[:-1]),
        lambda: x.__setitem__(slice(1, None), x[:-1]),
        lambda: torch.exp(x[1:], out=x[:-1]),
        lambda: m.add_(m.t()),
        lambda: m.add_(m[:1]),
    ):
        with pytest.raises(RuntimeError, match=message):
            write()
    x[:].add_(x)
    m[0].add_(m[1])
    assert x.tolist() == [0.0, 2.0, 4.0, 6.0] and m.tolist() == [[2.0, 4.0], [2.0, 3.0]]


def test_versions(torch):
    x = torch.zeros(2, 2)
    alias, view, data = x.detach(), x[0], x.data
    x.add_(1)
    alias.add_(1)
    view.zero_()
    data.add_(1)
    x[0] = 1
    x[torch.tensor([1])] = 2.0
    x[0] += 1
    assert (x._version, alias._version, view._version, data._version) == (7, 7, 7, 1)
    x.data = torch.ones(3)
    assert x._version == 7
    x.fill_(2)
    assert x._version == 8


CHANGES = {
    "t_": (lambda x: x.t_(), "TBackward1"),
    "transpose_": (lambda x: x.transpose_(0, 1), "TransposeBackward1"),
    "swapaxes_": (lambda x: x.swapaxes_(0, 1), "TransposeBackward1"),
    "unsqueeze_": (lambda x: x.unsqueeze_(1), "UnsqueezeBackward1"),
    "squeeze_": (lambda x: x.squeeze_(0), "SqueezeBackward4"),
    "as_strided_": (lambda x: x.as_strided_((2,), (1,), 1), "AsStridedBackward1"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_layout(torch, name):
    change, node = CHANGES[name]
    x = torch.arange(1.0, 7.0).view(2, 3).requires_grad_()
    y = x * 1
    assert change(y) is y and y._version == 1 and y.grad_fn.name() == node
    expected = getattr(torch.Tensor, name[:-1])
    args = {"t_": (), "unsqueeze_": (1,), "squeeze_": (0,), "as_strided_": ((2,), (1,), 1)}.get(name, (0, 1))
    plain = expected(x, *args)
    assert torch.equal(y, plain)
    y.mul_(2)
    y[0].mul_(3)
    changed = plain * 2 * torch.where(torch.arange(plain.shape[0]) == 0, 3.0, 1.0).view(-1, *[1] * (plain.dim() - 1))
    assert torch.equal(y, changed)
    (g,) = torch.autograd.grad((y * y).sum(), x)
    assert torch.allclose(g, torch.autograd.grad((changed * changed).sum(), x)[0])


def test_view_of_a_base_that_was_transposed_in_place(torch):
    x = torch.arange(6.0).view(2, 3).requires_grad_()
    y = x * 1
    v = y[0]
    y.t_()
    y.mul_(2)
    assert v.tolist() == [0.0, 2.0, 4.0]
    assert torch.autograd.grad(v.sum(), x)[0].tolist() == [[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]


def test_layout_of_a_view_is_its_own(torch):
    y = torch.ones(2, 3, requires_grad=True) * 1
    v = y[:, :2]
    v.t_()
    assert y.grad_fn.name() == "MulBackward0" and v.grad_fn.name() == "TBackward1" and v._base is y


def test_resize_set_and_storage(torch):
    x = torch.arange(6.0)
    assert x.resize_(2, 2).tolist() == [[0.0, 1.0], [2.0, 3.0]] and x.resize_(6).tolist()[5] == 5.0
    y = torch.zeros(2)
    y.set_(x[2:4])
    assert y.tolist() == [2.0, 3.0] and y.storage_offset() == 2 and y._version == 1
    assert y.set_(x, 1, (2, 2), (2, 1)).tolist() == [[1.0, 2.0], [3.0, 4.0]] and y.is_set_to(y)
    assert y.untyped_storage().data_ptr() == x.data_ptr() and len(x.untyped_storage()) == 24
    r = torch.ones(2, requires_grad=True) * 1
    with torch.no_grad():
        assert r.set_(x).grad_fn.name() == "MulBackward0" and r.requires_grad
    assert y.set_().tolist() == [] and torch.zeros(3).resize_as_(torch.ones(1, 2)).shape == (1, 2)


def test_python_functions(torch):
    x = torch.tensor([[1.0, 4.0]])
    assert x.apply_(lambda a: a + 1) is x and x.tolist() == [[2.0, 5.0]] and x._version == 0
    assert x.map_(torch.tensor([[3.0, 1.0]]), max).tolist() == [[3.0, 5.0]]
    with pytest.raises(TypeError, match=r"map_: expected torch.FloatTensor for 'other' \(got torch.DoubleTensor\)"):
        x.map_(x.double(), max)


def test_put_and_fill_diagonal(torch):
    x = torch.arange(1.0, 5.0, requires_grad=True)
    w = torch.tensor([10.0, 20.0], requires_grad=True)
    y = (x * 1).view(2, 2).clone()
    y.put_(torch.tensor([1, -1]), w)
    assert y.tolist() == [[1.0, 10.0], [3.0, 20.0]] and y.grad_fn.name() == "PutBackward0"
    (y * y).sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 6.0, 0.0] and w.grad.tolist() == [20.0, 40.0]
    assert torch.zeros(2).put_(torch.tensor([0, 0]), torch.ones(2), accumulate=True).tolist() == [2.0, 0.0]
    assert torch.ones(6, 2).fill_diagonal_(5, wrap=True)[:, 0].tolist() == [5.0, 1.0, 1.0, 5.0, 1.0, 1.0]
    with pytest.raises(IndexError, match="tried to access index 3 on a tensor of 2 elements"):
        torch.ones(2).put_(torch.tensor([3]), torch.tensor([1.0]))


def test_what_has_no_derivative_cuts_the_gradient(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.gt_(1)
    (y * 5 + x).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_swap_tensors(torch):
    a, b = torch.tensor([1.0], requires_grad=True), torch.tensor([2.0, 3.0])
    torch.utils.swap_tensors(a, b)
    assert a.tolist() == [2.0, 3.0] and b.requires_grad and not a.requires_grad
    (b * 2).backward()
    assert b.grad.tolist() == [2.0] and a.grad is None


def test_functions_that_write(torch):
    x = torch.tensor([-1.0, 0.5], requires_grad=True)
    y = x * 1
    assert torch.nn.functional.elu_(y) is y
    assert torch.autograd.grad(y.sum(), x)[0][1].item() == 1.0
    assert torch.zero_(torch.fill_(torch.ones(2), 3)).tolist() == [0.0, 0.0]


def test_out_refuses_what_requires_grad(torch):
    x = torch.ones(2, requires_grad=True)
    for operand, out in ((x, torch.zeros(2)), (torch.ones(2), x)):
        with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
            torch.add(operand, 1, out=out)
    with torch.no_grad():
        torch.add(x, 1, out=x)
    assert x.tolist() == [2.0, 2.0] and x._version == 1
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        torch.add(torch.ones(2), 1, out=torch.zeros(2, dtype=torch.int64))


def test_nothing_is_said_of_usual_writes(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.ones(2, 2)
        x[0] = torch.tensor([1.0, 2.0])
        x.div_(0).clamp_(0, 1).masked_fill_(x > 0, 2.0)
    assert x.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_one_number_at_the_places_of_a_mask_is_cast(torch):
    for shape in ((), (1,)):
        for dtype in (torch.float32, torch.int64, torch.bool):
            x, number = torch.arange(4, dtype=torch.float64), torch.ones(shape, dtype=dtype)
            x[x > 2] = number
            assert x.tolist() == [0, 1, 2, 1]
            assert x.index_put_((x == 0,), number).tolist() == [1, 1, 2, 1]
            for index in (torch.tensor([0, 1]), (torch.tensor([0, 1]),)):
                with pytest.raises(RuntimeError, match=r"got Double for the destination and (Float|Long|Bool) for the"):
                    x[index] = number
    leaf = torch.tensor(2.0, requires_grad=True)
    x = torch.zeros(3, dtype=torch.float64)
    x[torch.tensor([True, False, True])] = leaf
    x.sum().backward()
    assert leaf.grad.item() == 2
    with pytest.raises(RuntimeError, match=r"shape mismatch: value tensor of shape \[3, 2\] cannot be broadcast to"):
        torch.ones(3, 2)[torch.ones(3, 2) > 0] = torch.ones(3, 2)


def test_dimensions_of_a_number_are_moved_nowhere(torch):
    x = torch.tensor(3.0, requires_grad=True)
    assert x.movedim(0, -1).shape == ()
    for source, destination, name in (((0, 0), (1, 2), "source"), ((0, 1), (1, 1), "destination")):
        with pytest.raises(RuntimeError, match=f"movedim: repeated dim in `{name}`"):
            torch.ones(2, 3, 4).movedim(source, destination)
    with torch.no_grad():
        _, part = torch.ones(3, requires_grad=True).split([1, 2])
    assert type(part.squeeze().grad_fn).__name__ == "SqueezeBackward0"


def test_one_of_its_own_numbers_in_many_places(torch):
    x = torch.arange(6.0).view(2, 3)
    x[1] = x[1][1]
    assert x.tolist() == [[0, 1, 2], [4, 4, 4]]
    x[0] = x[0, :1]
    x[x > 3] = x[1][2]
    assert x.tolist() == [[0, 0, 0], [4, 4, 4]]
    x[0, 1] = x[1, 1]
    assert x.fill_(x[0, 1]).tolist() == [[4, 4, 4], [4, 4, 4]]
    leaf = torch.arange(4.0, requires_grad=True)
    y = leaf * 1
    y[:3] = y[1]
    y.sum().backward()
    assert leaf.grad.tolist() == [0, 3, 0, 1]
    z = leaf * 1
    z.fill_(z[2])
    z[0] += z[0]
    assert z.tolist() == [4, 2, 2, 2]
    for call in (lambda t: t.mul_(t[1]), lambda t: t[1:].copy_(t[:-1])):
        with pytest.raises(RuntimeError, match="single memory location"):
            call(torch.arange(4.0))
