"""Two servers add up shares of the rewards."""
import math

import numpy as np

EPSILON = 1.0
MOD = 1 << 32
UNIT = 100
P = 1 - math.exp(-EPSILON / UNIT)


class Server:
    def __init__(self, rng):
        self.rng, self.acc = rng, 0

    def receive(self, share):
        self.acc = (self.acc + share) % MOD

    def open(self):
        noise = int(self.rng.geometric(P)) - int(self.rng.geometric(P))
        value, self.acc = (self.acc + noise) % MOD, 0
        return value


def split(x, rng):
    mask = int(rng.integers(MOD))
    return mask, (x - mask) % MOD


def play(rewards, rng):
    T, K = rewards.shape
    servers = [(Server(rng), Server(rng)) for _ in range(K)]
    actions, t, arm_order, batch = [], 0, list(range(K)), 8
    score = [0.0] * K
    while t < T:
        for arm in arm_order:
            for _ in range(min(batch, T - t)):
                actions.append(arm)
                for server, share in zip(servers[arm], split(round(UNIT * rewards[t, arm]), rng)):
                    server.receive(share)
                t += 1
        for arm in arm_order:
            total = sum(s.open() for s in servers[arm]) % MOD
            total -= MOD if total >= MOD // 2 else 0
            score[arm] = 0.5 * score[arm] + total / UNIT
        arm_order = [max(range(K), key=score.__getitem__)] if len(actions) % 3 else list(range(K))
    return np.array(actions)
