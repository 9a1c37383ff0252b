"""The losses of PPO and DQN of Stable-Baselines3 on what NumPy drew."""

import numpy as np
import torch
from gymnasium import spaces
from same import integers, losses, normal, start
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.dqn.policies import QNetwork

space, actions = spaces.Box(-1, 1, (4,), np.float32), spaces.Discrete(3)
policy = start(ActorCriticPolicy(space, actions, lambda _: 3e-3))
seen, done, old = normal(32, 4), integers(3, 32), normal(32, seed=6)
buffer = RolloutBuffer(8, space, actions, device="cpu", n_envs=4)
rng = np.random.default_rng(3)
for i in range(8):
    part = slice(4 * i, 4 * i + 4)
    values, log = policy.evaluate_actions(seen[part], done[part])[:2]
    rewards = rng.normal(size=4)
    buffer.add(seen[part].numpy(), done[part].numpy(), rewards, np.zeros(4), values.detach(), log.detach())
buffer.compute_returns_and_advantage(values.detach(), np.zeros(4))
advantages, returns = (torch.as_tensor(a.T.reshape(-1)) for a in (buffer.advantages, buffer.returns))
print(advantages[:4], returns[:4])
with torch.no_grad():
    before = policy.evaluate_actions(seen, done)[1]


def loss():
    values, log, entropy = policy.evaluate_actions(seen, done)
    ratio = torch.exp(log - before)
    clipped = torch.min(advantages * ratio, advantages * torch.clamp(ratio, 0.8, 1.2)).mean()
    return -clipped + 0.5 * torch.nn.functional.mse_loss(returns, values.flatten()) - 0.01 * entropy.mean()


losses(policy, loss, policy.optimizer, 12)
q = start(QNetwork(space, actions, FlattenExtractor(space), 4, [16]))
target = normal(32, 1, seed=9)


def td():
    return torch.nn.functional.smooth_l1_loss(q(seen).gather(1, done[:, None]), target)


losses(q, td, torch.optim.Adam(q.parameters(), lr=3e-3), 10)
