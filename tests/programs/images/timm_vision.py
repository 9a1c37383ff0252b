"""Vision models of timm: a residual network, a vision transformer and a ConvNeXt."""

import timm
import torch
from same import integers, losses, normal, start

labels = integers(4, 4)
for name, size, options in (
    ("resnet10t", 48, {}),
    ("vit_tiny_patch16_224", 32, {"img_size": 32, "depth": 2}),
    ("convnext_atto", 32, {}),
    ("mobilenetv3_small_050", 48, {}),
):
    model = start(timm.create_model(name, num_classes=4, **options), scale=0.05)
    x = normal(4, 3, size, size)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses(model, lambda m=model, x=x: torch.nn.functional.cross_entropy(m(x), labels), optimizer, 3)
