"""Invertible networks of FrEIA: sequences and graphs of couplings, both directions."""

import FrEIA.framework as Ff
import FrEIA.modules as Fm
import numpy as np
import torch
from same import losses, normal, start


def subnet(n_in, n_out):
    return torch.nn.Sequential(torch.nn.Linear(n_in, 16), torch.nn.ReLU(), torch.nn.Linear(16, n_out))


def conv(n_in, n_out):
    return torch.nn.Sequential(
        torch.nn.Conv2d(n_in, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, n_out, 3, padding=1)
    )


np.random.seed(0)  # noqa: NPY002 - FrEIA permutes with it
x = normal(32, 4)
for kind, options in (
    (Fm.AllInOneBlock, {"permute_soft": False}),
    (Fm.GLOWCouplingBlock, {}),
    (Fm.RNVPCouplingBlock, {}),
    (Fm.GINCouplingBlock, {}),
):
    net = Ff.SequenceINN(4)
    for _ in range(3):
        if kind is Fm.AllInOneBlock:
            options = {**options, "affine_clamping": 1.5}
        net.append(kind, subnet_constructor=subnet, **options)
        net.append(Fm.PermuteRandom, seed=3)
    trained = torch.nn.ModuleList([m for m in net])
    with torch.no_grad():
        for i, (name, p) in enumerate(sorted(net.named_parameters())):
            if p.requires_grad:
                p.copy_(normal(*p.shape, seed=i) * 0.2)

    def loss():
        z, log = net(x)
        return (0.5 * (z**2).sum(1) - log).mean()

    losses(net, loss, torch.optim.Adam([p for p in net.parameters() if p.requires_grad], 1e-2), 6)
    z, _ = net(x)
    print((net(z, rev=True)[0] - x).abs().max().item() < 1e-3)

inputs = Ff.InputNode(1, 8, 8, name="in")
nodes = [inputs, Ff.Node(inputs, Fm.IRevNetDownsampling, {}, name="down")]
nodes.append(Ff.Node(nodes[-1], Fm.GLOWCouplingBlock, {"subnet_constructor": conv, "clamp": 1.2}, name="couple"))
nodes.append(Ff.Node(nodes[-1], Fm.Flatten, {}, name="flat"))
nodes.append(Ff.OutputNode(nodes[-1], name="out"))
graph = start(Ff.GraphINN(nodes, verbose=False), scale=0.1)
images = normal(8, 1, 8, 8)


def image_loss():
    z, log = graph(images)
    return (0.5 * (z**2).sum(1) - log).mean()


losses(graph, image_loss, torch.optim.Adam(graph.parameters(), 1e-2), 6)
