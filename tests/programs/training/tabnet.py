"""Networks on tables: TabNet and FT-Transformer."""

import torch
from pytorch_tabnet.tab_network import TabNet
from same import integers, losses, normal, start
from tab_transformer_pytorch import FTTransformer

x, codes, labels = normal(32, 6), integers(5, 32, 3), integers(2, 32)
net = start(TabNet(6, 2, n_d=8, n_a=8, n_steps=3, virtual_batch_size=16, group_attention_matrix=torch.eye(6)))


def loss():
    out, sparsity = net(x)
    return torch.nn.functional.cross_entropy(out, labels) - 1e-3 * sparsity


losses(net, loss, torch.optim.Adam(net.parameters(), 2e-2), 6)
for model in (
    FTTransformer(
        categories=(5, 5, 5), num_continuous=6, dim=16, dim_out=1, depth=2, heads=2, attn_dropout=0.0, ff_dropout=0.0
    ),
):
    start(model, scale=0.1)
    losses(
        model,
        lambda m=model: torch.nn.functional.binary_cross_entropy_with_logits(m(codes, x)[:, 0], labels.float()),
        torch.optim.AdamW(model.parameters(), 1e-3),
        5,
    )
