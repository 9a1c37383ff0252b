"""Calls that are wrong: a type checker has to find each line that says so."""

from __future__ import annotations

import gradpack as torch
import gradpack.nn.functional as F
from gradpack import nn

x = torch.randn(3, 4)
labels = torch.tensor([0, 1, 2])

# names
torch.radn(3)  # wrong
torch.linspase(0, 1, 5)  # wrong
torch.float23  # wrong
torch.linalg.choleski(x)  # wrong
torch.fft.ftt(x)  # wrong
torch.special.gamaln(x)  # wrong
torch.optim.Addam([x])  # wrong
torch.autograd.gradchek(torch.sin, x)  # wrong
torch.func.vmapp(torch.sin)  # wrong
F.rellu(x)  # wrong
F.cross_entropi(x, labels)  # wrong
nn.Linaer(3, 4)  # wrong
x.sume()  # wrong
x.requires_gard_()  # wrong
x.shap  # wrong
x.sum().backwards()  # wrong
torch.topk(x, 2).value  # wrong
torch.max(x, 0).indexes  # wrong

# keywords
torch.zeros(3, dtyp=torch.float32)  # wrong
torch.randn(3, require_grad=True)  # wrong
torch.sum(x, dims=0)  # wrong
x.mean(keep_dim=True)  # wrong
x.softmax(dimension=0)  # wrong
torch.cat([x, x], dmi=0)  # wrong
torch.linalg.svd(x, full_matrix=False)  # wrong
F.dropout(x, prob=0.5)  # wrong
F.cross_entropy(x, labels, smoothing=0.1)  # wrong
nn.Conv2d(3, 8, kernel=3)  # wrong
torch.optim.SGD([x], learning_rate=0.1)  # wrong
x.sum().backward(retain=True)  # wrong
x.add_(1, alhpa=2)  # wrong

# types
torch.zeros("3")  # wrong
torch.sin("x")  # wrong
torch.stack(x, "0")  # wrong
x.sum("0")  # wrong
x.view("a", 2)  # wrong
x.reshape(3.5)  # wrong
x["a"]  # wrong
x + "1"  # wrong
x @ 3  # wrong
F.relu([1.0])  # wrong
F.linear(x, 3)  # wrong
F.cross_entropy(x, "labels")  # wrong
nn.Linear("3", 4)  # wrong
nn.Dropout("0.5")  # wrong
torch.optim.Adam([x], lr="0.1")  # wrong
torch.manual_seed("zero")  # wrong
x.requires_grad = "yes"  # wrong
torch.ones(2, dtype="float32")  # wrong
y: int = torch.ones(2).sum()  # wrong
values: torch.Tensor = torch.sort(x)  # wrong
first, second, third = torch.topk(x, 2)  # wrong
