"""Segmentation models: a U-Net and an FPN on a residual encoder, with their losses."""

import segmentation_models_pytorch as smp
import torch
from same import integers, losses, normal, start

x, mask = normal(2, 3, 64, 64), integers(2, 2, 1, 64, 64).float()
for make in (smp.Unet, smp.FPN, smp.DeepLabV3Plus):
    options = {"decoder_channels": (32, 16, 8)} if make is smp.Unet else {}
    if make is smp.Unet:
        options["encoder_depth"] = 3
    elif make is smp.FPN:
        options["decoder_dropout"] = 0.0
    else:
        options["decoder_aspp_dropout"] = 0.0
    model = start(make("resnet18", encoder_weights=None, classes=1, **options), scale=0.05)
    dice = smp.losses.DiceLoss("binary")
    focal = smp.losses.FocalLoss("binary")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    losses(model, lambda m=model: dice(m(x), mask) + focal(m(x), mask), optimizer, 3)
    tp, fp, fn, tn = smp.metrics.get_stats(torch.sigmoid(model(x)), mask.long(), mode="binary", threshold=0.5)
    print(smp.metrics.iou_score(tp, fp, fn, tn, reduction="micro").item())
