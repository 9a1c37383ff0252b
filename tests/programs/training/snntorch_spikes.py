"""Spiking networks of snntorch with surrogate gradients."""

import snntorch as snn
import snntorch.functional as SF
import torch
from same import integers, losses, normal, start
from snntorch import surrogate

spike = surrogate.fast_sigmoid(slope=10)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(6, 20), torch.nn.Linear(20, 3)
        self.a = snn.Leaky(beta=0.9, spike_grad=spike, learn_beta=True)
        self.b = snn.Synaptic(alpha=0.8, beta=0.7, spike_grad=spike)

    def forward(self, x):
        mem_a = self.a.init_leaky()
        syn, mem_b = self.b.init_synaptic()
        spikes, potentials = [], []
        for step in range(x.shape[0]):
            out, mem_a = self.a(self.first(x[step]), mem_a)
            out, syn, mem_b = self.b(self.second(out), syn, mem_b)
            spikes.append(out)
            potentials.append(mem_b)
        return torch.stack(spikes), torch.stack(potentials)


model, x, labels = start(Net(), scale=0.7), normal(12, 16, 6), integers(3, 16)
rate, count = SF.ce_rate_loss(), SF.mse_count_loss(correct_rate=0.8, incorrect_rate=0.2)
optimizer = torch.optim.Adam(model.parameters(), 5e-3)
losses(model, lambda: rate(model(x)[1], labels), optimizer, 8)
losses(model, lambda: count(model(x)[0], labels), optimizer, 4)
print(SF.accuracy_rate(model(x)[0], labels))
