"""A U-Net, a Swin transformer and losses of MONAI on volumes."""

import torch
from monai.inferers import SlidingWindowInferer
from monai.losses import DiceCELoss, TverskyLoss
from monai.metrics import DiceMetric
from monai.networks.nets import SegResNet, UNet
from same import integers, losses, normal, start

x, mask = normal(2, 1, 16, 16, 16), integers(2, 2, 1, 16, 16, 16).float()
for model in (
    UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1),
    SegResNet(
        spatial_dims=3,
        init_filters=4,
        in_channels=1,
        out_channels=2,
        blocks_down=(1, 1),
        blocks_up=(1,),
        norm=("group", {"num_groups": 2}),
    ),
):
    start(model, scale=0.1)
    for loss in (DiceCELoss(to_onehot_y=True, softmax=True), TverskyLoss(to_onehot_y=True, softmax=True)):
        losses(model, lambda m=model, l=loss: l(m(x), mask), torch.optim.Adam(model.parameters(), 1e-3), 2)
    with torch.no_grad():
        found = SlidingWindowInferer(roi_size=(8, 8, 8), overlap=0.25, sw_batch_size=2)(x, model)
    print(found.shape, found.mean().item(), found.std().item())
metric = DiceMetric(include_background=False)
print(metric(torch.nn.functional.one_hot(found.argmax(1), 2).movedim(-1, 1), mask))
