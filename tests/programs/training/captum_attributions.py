"""Attributions of a trained network by captum."""

import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    Occlusion,
    Saliency,
)
from same import integers, losses, normal, start

x, labels = normal(6, 1, 8, 8), integers(3, 6)
model = start(
    torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(36, 3)
    )
)
criterion = torch.nn.CrossEntropyLoss()
losses(model, lambda: criterion(model(x), labels), torch.optim.Adam(model.parameters(), lr=0.01), 10)
model.eval()
for method in (Saliency, InputXGradient, IntegratedGradients, DeepLift, GuidedBackprop, FeatureAblation):
    found = method(model).attribute(x, target=labels)
    print(method.__name__, found.abs().mean(), found.std())
print(Occlusion(model).attribute(x, sliding_window_shapes=(1, 3, 3), target=labels).abs().mean())
print(LayerGradCam(model, model[0]).attribute(x, target=labels).mean())
print(LayerConductance(model, model[0]).attribute(x, target=labels).mean())
