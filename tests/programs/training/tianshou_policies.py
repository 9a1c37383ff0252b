"""Networks and returns of Tianshou, on transitions that NumPy drew."""

import numpy as np
import torch
from same import losses, normal, start
from tianshou.data import Batch, ReplayBuffer
from tianshou.utils.net.common import Net
from tianshou.utils.net.continuous import ContinuousActorProbabilistic
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

rng = np.random.default_rng(0)
buffer = ReplayBuffer(size=64)
for i in range(64):
    buffer.add(
        Batch(
            obs=rng.normal(size=4).astype("float32"),
            act=int(rng.integers(3)),
            rew=float(rng.normal()),
            terminated=bool(i % 16 == 15),
            truncated=False,
            obs_next=rng.normal(size=4).astype("float32"),
            info={},
        )
    )
batch = buffer[np.arange(64)]
net = Net(state_shape=(4,), hidden_sizes=[16, 16])
actor = DiscreteActor(preprocess_net=net, action_shape=3, softmax_output=False)
critic = DiscreteCritic(preprocess_net=net)
both = start(torch.nn.ModuleList([actor, critic]))
returns = torch.as_tensor(batch.rew, dtype=torch.float32)
act = torch.as_tensor(batch.act)


def loss():
    logits = actor(batch.obs)[0]
    value = critic(batch.obs).flatten()
    dist = torch.distributions.Categorical(logits=logits)
    gain = (returns - value).detach()
    return -(dist.log_prob(act) * gain).mean() + 0.5 * (returns - value).pow(2).mean() - 0.01 * dist.entropy().mean()


losses(both, loss, torch.optim.Adam(both.parameters(), 1e-2), 12)
policy = start(
    ContinuousActorProbabilistic(
        preprocess_net=Net(state_shape=(4,), hidden_sizes=[16]), action_shape=(2,), unbounded=True
    ),
    scale=0.1,
)


def imitation():
    (mu, sigma), _ = policy(batch.obs)
    return (
        -torch.distributions.Independent(torch.distributions.Normal(mu, sigma), 1)
        .log_prob(normal(64, 2, seed=4))
        .mean()
    )


losses(policy, imitation, torch.optim.Adam(policy.parameters(), 1e-2), 12)
