"""Leader refreshed with a decaying budget."""
import numpy as np

EPSILON = 1.0
PHASES = 8


def play(rewards, rng):
    T, _ = rewards.shape
    warm = 16
    actions = [t % 2 for t in range(warm)]
    diff = sum((1 if a else -1) * rewards[t, a] for t, a in enumerate(actions))
    length = (T - warm) // PHASES
    for i in range(1, PHASES + 1):
        eps_i = EPSILON / i
        leader = int(diff + rng.laplace(0, 1 / eps_i) > 0)
        for j in range(length):
            arm = leader if j else 1 - leader
            t = len(actions)
            actions.append(arm)
            diff += (1 if arm else -1) * rewards[t, arm]
    actions += [leader] * (T - len(actions))
    return np.array(actions)
