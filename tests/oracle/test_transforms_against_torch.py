"""Functional transforms: each of many small programs gives what torch gives, or raises what it raises."""

from __future__ import annotations

import importlib
import itertools
import warnings

import pytest

import gradpack

torch = pytest.importorskip("torch")
importlib.import_module("torch.func")


def row(t, *shape):
    count = 1
    for n in shape:
        count *= n
    return ((t.arange(float(count)) + 1) / 7).reshape(shape)


def shown(value, lib):
    if isinstance(value, lib.Tensor):
        numbers = [complex(round(v.real, 4), round(v.imag, 4)) for v in map(complex, value.detach().flatten().tolist())]
        return tuple(value.shape), str(value.dtype).split(".")[1], numbers, value.requires_grad
    if isinstance(value, list | tuple):
        return type(value).__name__, [shown(v, lib) for v in value]
    if isinstance(value, dict):
        return {k: shown(v, lib) for k, v in value.items()}
    return value if isinstance(value, bool | int | str | None) else type(value).__name__


def outcome(program, lib):
    lib.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return shown(program(lib), lib)
        except Exception as error:
            return type(error).__name__, str(error).replace("gradpack", "torch")


def agree(program):
    assert outcome(program, gradpack) == outcome(program, torch)


# -- three transforms, one in another --


def mapped_vjp(t, f):
    def call(x):
        out, back = t.func.vjp(f, x)
        return back(t.ones_like(out))[0]

    return call


TRANSFORMS = {
    "grad": lambda t, f: t.func.grad(lambda x: f(x).sum()),
    "value": lambda t, f: lambda x: t.func.grad_and_value(lambda x: f(x).sum())(x)[0],
    "jacrev": lambda t, f: t.func.jacrev(f),
    "jacfwd": lambda t, f: t.func.jacfwd(f),
    "jvp": lambda t, f: lambda x: t.func.jvp(f, (x,), (t.ones_like(x),))[1],
    "vjp": mapped_vjp,
    "vmap": lambda t, f: t.vmap(f),
}


@pytest.mark.parametrize("names", [*itertools.product(TRANSFORMS, repeat=3)], ids="-".join)
def test_compositions(names):
    def program(t):
        f = lambda x: x.sin() * x * x  # noqa: E731
        for name in reversed(names):
            f = TRANSFORMS[name](t, f)
        return f(row(t, 2, 2, 2))

    agree(program)


# -- which arguments --

ARGNUMS = (
    0,
    1,
    -1,
    -2,
    2,
    -3,
    "0",
    0.0,
    (0, 1),
    (1, 0),
    (0, 0),
    (),
    (0, -1),
    (0, 2),
    ("0",),
    [0],
    True,
    (0, -2),
    (0.0, 1),
)
# jacfwd of torch takes a negative number for no argument and gives zeros; docs/differences.md.
NOT_NEGATIVE = ("jacfwd", "hessian")


@pytest.mark.parametrize("argnums", ARGNUMS, ids=repr)
@pytest.mark.parametrize("name", ["grad", "grad_and_value", "jacrev", "jacfwd", "hessian"])
def test_argnums(name, argnums):
    if name in NOT_NEGATIVE and argnums in (-1, -2, (0, -1)):
        pytest.skip("torch gives zeros")

    def program(t):
        f = (lambda x, y: x * y * y) if name.startswith("jac") else lambda x, y: (x * y * y).sum()
        return getattr(t.func, name)(f, argnums=argnums)(row(t, 2), row(t, 2))

    agree(program)


# -- what functions may return and be given --

PROGRAMS = {
    "grad of a vector": lambda t: t.func.grad(lambda x: x * 2)(row(t, 3)),
    "grad of a number": lambda t: t.func.grad(lambda x: 3)(t.tensor(1.0)),
    "grad of a list": lambda t: t.func.grad(lambda x: [x])(t.tensor(1.0)),
    "grad without aux": lambda t: t.func.grad(lambda x: x, has_aux=True)(t.tensor(1.0)),
    "grad with a list for aux": lambda t: t.func.grad(lambda x: [x, x], has_aux=True)(t.tensor(1.0)),
    "grad with a number for aux": lambda t: t.func.grad(lambda x: (x, 1.0), has_aux=True)(t.tensor(1.0)),
    "grad with three": lambda t: t.func.grad(lambda x: (x, x, x), has_aux=True)(t.tensor(1.0)),
    "grad with aux": lambda t: t.func.grad(lambda x: (x, {"a": (x * 2,)}), has_aux=True)(t.tensor(1.0)),
    "value with aux": lambda t: t.func.grad_and_value(lambda x: (x.sin(), (x, x)), has_aux=True)(t.tensor(1.0)),
    "grad of an int result": lambda t: t.func.grad(lambda x: (x > 0).sum())(t.tensor(1.0)),
    "grad of a complex result": lambda t: t.func.grad(lambda x: x * x)(t.tensor(1.0 + 2j)),
    "grad of complex": lambda t: t.func.grad(lambda x: (x * x).abs())(t.tensor(1.0 + 2j)),
    "grad by a number": lambda t: t.func.grad(lambda x: x * 2)(3.0),
    "grad by the second, a number": lambda t: t.func.grad(lambda x, y: x * y, argnums=1)(t.tensor(2.0), 3.0),
    "grad beside a number": lambda t: t.func.grad(lambda x, y: x * y)(t.tensor(2.0), 3.0),
    "grad of nothing": lambda t: t.func.grad(lambda: t.tensor(1.0))(),
    "grad with a keyword": lambda t: t.func.grad(lambda x, y=2.0: x * y)(t.tensor(2.0), y=t.tensor(3.0)),
    "grad by a dict": lambda t: t.func.grad(lambda d: (d["a"] * d["b"][0]).sum())({"a": row(t, 2), "b": (row(t, 2),)}),
    "grad by a dict with a number": lambda t: t.func.grad(lambda d: d["a"].sum())({"a": row(t, 2), "b": 3}),
    "grad of another": lambda t: t.func.grad(lambda x, y: y.sum())(row(t, 2), row(t, 2)),
    "grad and item": lambda t: t.func.grad(lambda x: x * x.item())(t.tensor(2.0)),
    "grad and if": lambda t: t.func.grad(lambda x: x * x if x > 0 else -x)(t.tensor(2.0)),
    "grad and numpy": lambda t: t.func.grad(lambda x: x * t.from_numpy(x.numpy()))(t.tensor(2.0)).shape,
    "vjp of nothing": lambda t: t.func.vjp(lambda x: (), row(t, 2)),
    "vjp of None": lambda t: t.func.vjp(lambda x: None, row(t, 2)),
    "vjp of a number": lambda t: t.func.vjp(lambda x: 1, row(t, 2)),
    "vjp of a pair with a number": lambda t: t.func.vjp(lambda x: (x, 1), row(t, 2)),
    "vjp by a number": lambda t: t.func.vjp(lambda x: x, 3),
    "vjp, one for two": lambda t: t.func.vjp(lambda x: (x, x), row(t, 2))[1](t.ones(2)),
    "vjp, list for tuple": lambda t: t.func.vjp(lambda x: [x, (x, x)], row(t, 2))[1]([t.ones(2), [t.ones(2)] * 2]),
    "vjp of another shape": lambda t: t.func.vjp(lambda x: x, row(t, 2))[1](t.ones(3)),
    "vjp of another dtype": lambda t: t.func.vjp(lambda x: x, row(t, 2))[1](t.ones(2, dtype=t.float64)),
    "vjp from a number": lambda t: t.func.vjp(lambda x: x, row(t, 2))[1](3),
    "vjp without aux": lambda t: t.func.vjp(lambda x: x, row(t, 2), has_aux=True),
    "vjp with a number for aux": lambda t: t.func.vjp(lambda x: (x, 1), row(t, 2), has_aux=True),
    "vjp with aux": lambda t: t.func.vjp(lambda x: (x, {"a": x, "b": [x]}), row(t, 2), has_aux=True)[2],
    "vjp of unrelated": lambda t: t.func.vjp(lambda x, y: x, row(t, 2), row(t, 3))[1](t.ones(2)),
    "jvp of a list": lambda t: t.func.jvp(t.sin, [row(t, 3)], [t.ones(3)]),
    "jvp of a tensor": lambda t: t.func.jvp(t.sin, row(t, 3), t.ones(3)),
    "jvp with one too many": lambda t: t.func.jvp(t.sin, (row(t, 3),), (t.ones(3), t.ones(3))),
    "jvp along a tensor": lambda t: t.func.jvp(t.sin, (row(t, 3),), t.ones(3)),
    "jvp along a list": lambda t: t.func.jvp(t.sin, (row(t, 3),), [t.ones(3)]),
    "jvp along another form": lambda t: t.func.jvp(lambda d: d["a"], ({"a": row(t, 3)},), ([t.ones(3)],)),
    "jvp along another shape": lambda t: t.func.jvp(t.sin, (row(t, 3),), (t.ones(2),)),
    "jvp by a number": lambda t: t.func.jvp(lambda x: x, (3,), (row(t, 3),)),
    "jvp along a number": lambda t: t.func.jvp(lambda x: x, (row(t, 3),), (3.0,)),
    "jvp by nothing": lambda t: t.func.jvp(lambda: t.ones(1), (), ()),
    "jvp of a number": lambda t: t.func.jvp(lambda x: 3, (row(t, 3),), (t.ones(3),)),
    "jvp of nothing": lambda t: t.func.jvp(lambda x: (), (row(t, 3),), (t.ones(3),)),
    "jvp of None": lambda t: t.func.jvp(lambda x: None, (row(t, 3),), (t.ones(3),)),
    "jvp of a dict": lambda t: t.func.jvp(lambda x: {"a": x, "b": [x * 2]}, (row(t, 3),), (t.ones(3),)),
    "jvp of ints": lambda t: t.func.jvp(lambda x: x * 2, (t.arange(3),), (t.ones(3),)),
    "jvp with aux": lambda t: t.func.jvp(lambda x: (x * 2, x.cos()), (row(t, 3),), (t.ones(3),), has_aux=True),
    "jvp without aux": lambda t: t.func.jvp(lambda x: x, (row(t, 3),), (t.ones(3),), has_aux=True),
    "jvp with a number for aux": lambda t: t.func.jvp(lambda x: (x, 1), (row(t, 3),), (t.ones(3),), has_aux=True),
    "jvp, strict": lambda t: t.func.jvp(lambda x: t.ones(3), (row(t, 3),), (t.ones(3),), strict=True),
    "jvp, not strict": lambda t: t.func.jvp(lambda x: t.ones(3), (row(t, 3),), (t.ones(3),)),
    "jacrev of nothing": lambda t: t.func.jacrev(lambda x: ())(row(t, 2)),
    "jacfwd of nothing": lambda t: t.func.jacfwd(lambda x: ())(row(t, 2)),
    "jacrev of a number": lambda t: t.func.jacrev(lambda x: 3)(row(t, 2)),
    "jacfwd of a number": lambda t: t.func.jacfwd(lambda x: 3)(row(t, 2)),
    "jacrev of complex": lambda t: t.func.jacrev(lambda x: x * x)(t.ones(2, dtype=t.complex64)),
    "jacfwd of complex": lambda t: t.func.jacfwd(lambda x: x * x)(t.ones(2, dtype=t.complex64)),
    "jacrev to complex": lambda t: t.func.jacrev(lambda x: x * 1j)(t.ones(2)),
    "jacfwd to complex": lambda t: t.func.jacfwd(lambda x: x * 1j)(t.ones(2)),
    "jacrev of dicts": lambda t: t.func.jacrev(lambda d: {"o": d["a"] * d["b"]})({"a": row(t, 2), "b": row(t, 2)}),
    "jacfwd of dicts": lambda t: t.func.jacfwd(lambda d: {"o": d["a"] * d["b"]})({"a": row(t, 2), "b": row(t, 2)}),
    "jacrev, chunk_size 0": lambda t: t.func.jacrev(t.sin, chunk_size=0)(row(t, 2)),
    "jacfwd, unknown randomness": lambda t: t.func.jacfwd(t.sin, randomness="lol")(row(t, 2)),
    "jacrev of ints": lambda t: t.func.jacfwd(lambda x: x * 2)(t.arange(3)),
    "jacrev of no elements": lambda t: t.func.jacrev(lambda x: x[:0])(row(t, 2)),
    "jacobians of other dtypes": lambda t: [
        j(lambda x: x.double() * 2)(row(t, 2)) for j in (t.func.jacrev, t.func.jacfwd)
    ],
    "hessian by two": lambda t: t.func.hessian(lambda x, y: (x * x * y).sum(), argnums=(0, 1))(row(t, 2), row(t, 2)),
    "hessian of a vector": lambda t: t.func.hessian(lambda x: x**3)(row(t, 2)),
    "functionalize": lambda t: t.func.functionalize(lambda x: x, remove="lol")(row(t, 2)),
    "a leaf's gradient": lambda t: t.func.grad(lambda x: (x**3).sum())(row(t, 2).requires_grad_()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    agree(PROGRAMS[name])


def test_texts_of_tracked_tensors():
    def program(t):
        seen = []

        def note(x):
            seen.append(repr(x))
            return x.sum()

        t.func.grad(note)(row(t, 2))
        t.func.jvp(note, (row(t, 2),), (row(t, 2),))
        t.vmap(t.func.grad(note))(row(t, 2, 2))
        t.func.grad(lambda y: t.vmap(note)(y).sum())(row(t, 2, 2))
        t.func.grad(t.func.grad(note))(t.tensor(1.0))
        return seen

    agree(program)


# -- writes and modes inside --


def in_place(t, change):
    made = t.zeros(2)

    def f(x):
        change(made, x)
        return x.sum()

    return f


INSIDE = {
    "a write to a captured tensor": lambda t: t.func.grad(in_place(t, lambda m, x: m.copy_(x)))(row(t, 2)),
    "a tangent into a captured tensor": lambda t: t.func.jvp(
        in_place(t, lambda m, x: m.copy_(x)), (row(t, 2),), (row(t, 2),)
    ),
    "an element of a captured tensor": lambda t: t.func.grad(in_place(t, lambda m, x: m.__setitem__(0, x[0])))(
        row(t, 2)
    ),
    "data of a captured tensor": lambda t: t.func.grad(lambda x: (x.data * x).sum())(row(t, 2)),
    "requires_grad_": lambda t: t.func.grad(lambda x: x.requires_grad_().sum())(row(t, 2)),
    "retain_grad": lambda t: t.func.grad(lambda x: (x * 2).retain_grad())(row(t, 2)),
    "backward": lambda t: t.func.grad(lambda x: x.sum().backward())(row(t, 2)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_inside(name):
    ours, theirs = (outcome(INSIDE[name], lib) for lib in (gradpack, torch))
    if isinstance(theirs[1], str):  # words up to what the kernel is called
        assert ours[0] == theirs[0] and ours[1][:100] == theirs[1][:100]
    else:
        assert ours == theirs


# -- `autograd.functional` --

V = ("vjp", "jvp", "vhp", "hvp")
NAMES = (*V, "jacobian", "hessian")
OF_ONE_NUMBER = ("vhp", "hvp", "hessian")
BODIES = {
    "plain": lambda t, x: x**3,
    "detached": lambda t, x: (x**3).detach(),
    "constant": lambda t, x: t.ones(2),
    "of another leaf": lambda t, x: t.ones(2, requires_grad=True) * 2,
    "linear": lambda t, x: x * 3,
    "clone": lambda t, x: x.clone(),
    "half detached": lambda t, x: t.stack([x[0] ** 3, x[1].detach()]),
    "a pair": lambda t, x: (x**2, x**3),
    "a list": lambda t, x: [x**2],
    "a number": lambda t, x: 3,
    "nothing": lambda t, x: None,
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_strict_and_graphs(name, create_graph, strict, body):
    def program(t, leaf):
        def f(x):
            made = BODIES[body](t, x)
            return made.sum() if name in OF_ONE_NUMBER and isinstance(made, t.Tensor) else made

        x = row(t, 2).requires_grad_(leaf)
        v = ((row(t, 2), row(t, 2)) if body == "a pair" and name == "vjp" else row(t, 2),) if name in V else ()
        return getattr(t.autograd.functional, name)(f, x, *v, create_graph=create_graph, strict=strict)

    agree(lambda t: program(t, False))
    agree(lambda t: program(t, True))


GIVEN = {
    "None": lambda t: None,
    "right": lambda t: t.ones(2),
    "a tuple": lambda t: (t.ones(2),),
    "another shape": lambda t: t.ones(3),
    "two": lambda t: (t.ones(2), t.ones(2)),
    "a list": lambda t: [t.ones(2)],
    "a number": lambda t: 3,
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", V)
def test_products_with(name, given):
    def f(x):
        return (x**3).sum() if name in OF_ONE_NUMBER else x**3

    agree(lambda t: getattr(t.autograd.functional, name)(f, row(t, 2), GIVEN[given](t)))
    agree(lambda t: getattr(t.autograd.functional, name)(f, (row(t, 2),), GIVEN[given](t)))


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode", "other"])
@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("more", [{}, {"strict": True}, {"create_graph": True}], ids=str)
@pytest.mark.parametrize("name", ["jacobian", "hessian"])
def test_jacobians_and_hessians(name, more, vectorize, strategy):
    number = name == "hessian"
    options = {"vectorize": vectorize, "outer_jacobian_strategy" if number else "strategy": strategy, **more}

    def call(t, f, inputs):
        return getattr(t.autograd.functional, name)(f, inputs, **options)

    agree(lambda t: call(t, lambda x: (x**3).sum() if number else x**3, row(t, 2)))
    agree(lambda t: call(t, lambda x: x**3, t.tensor(2.0)))
    agree(lambda t: call(t, lambda x, y: (x**3 * y).sum() if number else (x * y, x.sum()), (row(t, 2), row(t, 2))))
    agree(lambda t: call(t, lambda x, y: (x**3).sum() if number else x**3, (row(t, 2), row(t, 2))))
    agree(lambda t: call(t, lambda x: t.ones(()) if number else (x**3, t.ones(2)), row(t, 2)))


def test_inside_of_a_transform():
    for wrap in (lambda t, f: t.vmap(f)(row(t, 2, 2)), lambda t, f: t.func.grad(lambda x: f(x).sum())(row(t, 2))):
        agree(lambda t, wrap=wrap: wrap(t, lambda x: t.autograd.functional.jacobian(lambda y: y * y, x)))
