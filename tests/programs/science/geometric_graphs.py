"""Graph networks of PyTorch Geometric: convolutions, attention, and graphs in batches."""

import torch
import torch.nn.functional as F
from same import integers, losses, normal, start
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool

edges = torch.cat([integers(20, 2, 60), torch.arange(20).repeat(2, 1)], 1)
graph = Data(x=normal(20, 5), edge_index=edges, y=integers(3, 20))


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = GCNConv(5, 8), GATConv(8, 8, heads=2), SAGEConv(16, 3)

    def forward(self, data):
        x = F.relu(self.one(data.x, data.edge_index))
        return self.three(F.elu(self.two(x, data.edge_index)), data.edge_index)


net = start(Network())
losses(net, lambda: F.cross_entropy(net(graph), graph.y), torch.optim.Adam(net.parameters(), lr=0.01), 12)
batch = Batch.from_data_list([Data(x=normal(n, 5, seed=n), edge_index=integers(n, 2, 3 * n)) for n in (4, 6, 9)])
layer = start(GINConv(torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))))
labels = torch.tensor([0, 1, 0])


def loss():
    return F.cross_entropy(global_mean_pool(layer(batch.x, batch.edge_index), batch.batch), labels)


losses(layer, loss, torch.optim.Adam(layer.parameters(), lr=0.02), 8)
