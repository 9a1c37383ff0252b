"""Adversarial examples of torchattacks and foolbox on a small network."""

import foolbox
import torch
import torchattacks
from same import integers, losses, normal, start

model = start(
    torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3))
)
x, labels = torch.sigmoid(normal(8, 1, 8, 8)), integers(3, 8)
losses(
    model, lambda: torch.nn.functional.cross_entropy(model(x), labels), torch.optim.Adam(model.parameters(), 1e-2), 10
)
model.eval()
for attack in (
    torchattacks.FGSM(model, eps=0.05),
    torchattacks.PGD(model, eps=0.05, alpha=0.01, steps=5, random_start=False),
    torchattacks.MIFGSM(model, eps=0.05, steps=5),
    torchattacks.BIM(model, eps=0.05, steps=4),
):
    found = attack(x, labels)
    print(type(attack).__name__, (found - x).abs().mean().item(), model(found).argmax(1))
wrapped = foolbox.PyTorchModel(model, bounds=(0, 1))
for attack in (foolbox.attacks.LinfPGD(steps=5, random_start=False), foolbox.attacks.L2FastGradientAttack()):
    raw, clipped, success = attack(wrapped, x, labels, epsilons=[0.05, 0.3])
    print(type(attack).__name__, [(c - x).abs().mean().item() for c in clipped], success.float().mean(1))
