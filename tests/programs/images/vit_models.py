"""Models of vit-pytorch."""

import torch
from same import integers, losses, normal, start
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cct import CCT
from vit_pytorch.cvt import CvT

x, labels = normal(4, 3, 32, 32), integers(5, 4)
for model in (
    ViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=4, mlp_dim=64),
    SimpleViT(image_size=32, patch_size=8, num_classes=5, dim=32, depth=2, heads=4, mlp_dim=64),
    CCT(
        img_size=32,
        embedding_dim=32,
        n_conv_layers=1,
        num_layers=2,
        num_heads=2,
        mlp_ratio=2.0,
        num_classes=5,
        positional_embedding="learnable",
        dropout_rate=0.0,
        attention_dropout=0.0,
        stochastic_depth_rate=0.0,
    ),
    CvT(num_classes=5, s1_emb_dim=16, s2_emb_dim=16, s3_emb_dim=32, s1_depth=1, s2_depth=1, s3_depth=1),
):
    start(model, scale=0.05)
    losses(
        model,
        lambda m=model: torch.nn.functional.cross_entropy(m(x), labels),
        torch.optim.AdamW(model.parameters(), 1e-3),
        3,
    )
