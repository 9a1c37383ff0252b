"""Gates on unpacked tensors: layouts, shared memory, parameters, attributes."""

from __future__ import annotations

from typing import Any

from .gate import Gates, hooks, leaf, near, noting, numbering, same

gate = GATES = Gates()


@gate
def layouts(torch: Any) -> None:
    """save_on_cpu gives back transposed, expanded, sliced and channels-last tensors with shape, values and strides."""
    base = torch.arange(48.0).reshape(2, 4, 2, 3)
    views = {
        "transposed": base.reshape(8, 6).t(),
        "expanded": torch.arange(3.0).reshape(3, 1).expand(3, 4),
        "sliced": base.reshape(8, 6)[::2, 1:5],
        "channels-last": base.contiguous(memory_format=torch.channels_last),
    }
    for name, view in views.items():
        x = torch.ones(view.shape, requires_grad=True)
        with torch.autograd.graph.save_on_cpu():
            y = x * view
        back = y.grad_fn._saved_other
        near(back, view, f"what came back of the {name} tensor")
        order = [sorted(range(t.dim()), key=t.stride().__getitem__) for t in (view, back)]
        assert order[0] == order[1], f"the {name} tensor came back with strides {back.stride()}, not {view.stride()}"


@gate
def shared_memory(torch: Any) -> None:
    """Views of one tensor that hooks keep as aliases share their memory when they come back."""
    base = torch.arange(6.0)
    x, z = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    with hooks(torch, lambda t: t.detach()):
        a, b = x * base[:2], z * base[3:]
    found = {t.untyped_storage().data_ptr() for t in (a.grad_fn._saved_other, b.grad_fn._saved_other)}
    assert found == {base.untyped_storage().data_ptr()}, "they lie in different memory"


@gate
def memory_used_again(torch: Any) -> None:
    """Gradients are right though hooks let go of each tensor, so that the next one takes its place in memory."""
    x = leaf(torch)
    lists: dict[int, Any] = {}
    h = x
    with hooks(torch, numbering(lists, lambda t: t.tolist()), lambda i: torch.tensor(lists[i])):
        for _ in range(30):
            h = h.sin()
    h.sum().backward()
    plain = x.detach().requires_grad_()
    h = plain
    for _ in range(30):
        h = h.sin()
    h.sum().backward()
    near(x.grad, plain.grad)


@gate
def parameters_under_views(torch: Any) -> None:
    """A hook can tell that what it is given is a parameter, under a transposed view, too."""
    layer = torch.nn.Linear(3, 2)
    own = {p.untyped_storage().data_ptr() for p in layer.parameters()}
    found: list[bool] = []

    def look(tensor: Any) -> Any:
        found.append(tensor.untyped_storage().data_ptr() in own)
        return tensor.clone()

    x = torch.ones(4, 3, requires_grad=True)
    with hooks(torch, look):
        y = torch.relu(x @ layer.weight.t() + layer.bias)
    assert found.count(True) == 1 and found.count(False) >= 2, f"of the tensors packed, parameters: {found}"
    y.sum().backward()


@gate
def attributes(torch: Any) -> None:
    """Attributes of the tensor that an unpack hook returns are there where a Function reads its saved tensors."""

    class Reads(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            found.append(getattr(ctx.saved_tensors[0], "scale", None))
            return g * 2

    def unpack(t: Any) -> Any:
        t = t.clone()
        t.scale = 7
        return t

    found: list[Any] = []
    with hooks(torch, lambda t: t.detach(), unpack):
        y = Reads.apply(leaf(torch) * 1)
    y.sum().backward()
    assert found == [7], f"the attribute was 7 when it was unpacked, and is {found[0]} in backward"


@gate
def custom_function(torch: Any) -> None:
    """Tensors saved by a custom Function go through the hooks, inputs and results alike."""

    class Exp(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            _, y = ctx.saved_tensors
            return g * y

    calls: list[str] = []
    x = leaf(torch)
    with hooks(torch, noting(calls, mark="p"), noting(calls, same, mark="u")):
        y = Exp.apply(x).sum()
    y.backward()
    assert "".join(calls) == "ppuu", f"packed and unpacked: {calls}"
    near(x.grad, x.exp())
