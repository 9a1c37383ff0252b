"""Models and transforms of torchvision."""

import torch
import torchvision
from same import integers, losses, normal, start
from torchvision.transforms import v2

labels = integers(4, 2)
transform = v2.Compose([v2.CenterCrop(40), v2.Resize(32), v2.Normalize([0.4] * 3, [0.2] * 3)])
x = transform(normal(2, 3, 48, 48).sigmoid())
print(x.mean(), x.std())
for make in (torchvision.models.resnet18, torchvision.models.squeezenet1_1):
    model = start(make(num_classes=4), scale=0.05).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train = lambda mode=True, m=model: m
    losses(model, lambda m=model: torch.nn.functional.cross_entropy(m(x), labels), optimizer, 3)
