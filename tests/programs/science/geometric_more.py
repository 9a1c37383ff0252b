"""Graph networks on batches of graphs, on several kinds of nodes, with pooling and attention."""

import torch
from same import integers, losses, normal, start
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    EdgeConv,
    GATv2Conv,
    GINConv,
    GraphNorm,
    HeteroConv,
    NNConv,
    PNAConv,
    RGCNConv,
    SAGEConv,
    TopKPooling,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.utils import degree, to_dense_adj, to_undirected

graphs = []
for s in range(8):
    n = 6 + s % 3
    edges = to_undirected(integers(n, 2, 10, seed=s))
    graphs.append(
        Data(
            x=normal(n, 5, seed=s),
            edge_index=edges,
            y=torch.tensor([s % 2]),
            edge_attr=normal(edges.shape[1], 3, seed=s),
        )
    )
batches = list(DataLoader(graphs, batch_size=4))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        mlp = torch.nn.Sequential(torch.nn.Linear(5, 16), torch.nn.ReLU(), torch.nn.Linear(16, 16))
        self.a, self.norm = GINConv(mlp, train_eps=True), GraphNorm(16)
        self.b, self.pool = GATv2Conv(16, 8, heads=2, edge_dim=3), TopKPooling(16, ratio=0.7)
        self.c, self.d = TransformerConv(16, 8, heads=2), NNConv(16, 8, torch.nn.Linear(3, 128))
        self.e = EdgeConv(torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.ReLU()))
        self.out = torch.nn.Linear(24, 2)

    def forward(self, g):
        x = torch.relu(self.norm(self.a(g.x, g.edge_index), g.batch))
        x = torch.relu(self.b(x, g.edge_index, g.edge_attr))
        x, edges, attr, batch, _, _ = self.pool(x, g.edge_index, g.edge_attr, g.batch)
        x = self.e(self.d(torch.relu(self.c(x, edges)), edges, attr), edges)
        pools = [global_mean_pool(x, batch), global_max_pool(x, batch), global_add_pool(x, batch)]
        return self.out(torch.cat(pools, 1))


model = start(Net())
losses(
    model,
    lambda: sum(torch.nn.functional.cross_entropy(model(g), g.y) for g in batches),
    torch.optim.Adam(model.parameters(), 1e-2),
    8,
)
hetero = HeteroData()
hetero["a"].x, hetero["b"].x = normal(10, 4), normal(7, 3, seed=5)
hetero["a", "to", "b"].edge_index = torch.stack([integers(10, 20), integers(7, 20, seed=8)])
hetero["b", "back", "a"].edge_index = hetero["a", "to", "b"].edge_index.flip(0)
conv = HeteroConv({("a", "to", "b"): SAGEConv((4, 3), 6), ("b", "back", "a"): SAGEConv((3, 4), 6)}, aggr="sum")
start(conv)
losses(
    conv,
    lambda: sum(v.pow(2).mean() for v in conv(hetero.x_dict, hetero.edge_index_dict).values()),
    torch.optim.Adam(conv.parameters(), 1e-2),
    4,
)
relational = start(RGCNConv(5, 6, num_relations=3, num_bases=2))
g = batches[0]
kinds = integers(3, g.edge_index.shape[1])
losses(
    relational,
    lambda: relational(g.x, g.edge_index, kinds).pow(2).mean(),
    torch.optim.Adam(relational.parameters(), 1e-2),
    4,
)
pna = start(
    PNAConv(5, 6, ["mean", "max", "std"], ["identity", "amplification"], deg=degree(g.edge_index[0]).long().bincount())
)
losses(pna, lambda: pna(g.x, g.edge_index).pow(2).mean(), torch.optim.Adam(pna.parameters(), 1e-3), 4)
print(to_dense_adj(g.edge_index, g.batch).sum((1, 2)))
