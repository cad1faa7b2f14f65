"""Each test's winner is reported through a randomiser."""
import numpy as np

EPSILON = 1.5


def randomised(value, k, rng):
    stay = np.exp(EPSILON) / (np.exp(EPSILON) + k - 1)
    if rng.random() < stay:
        return value
    others = [v for v in range(k) if v != value]
    return others[rng.integers(k - 1)]


def play(rewards, rng):
    T, K = rewards.shape
    votes = np.zeros(K, dtype=int)
    actions = []
    while len(actions) < T:
        lo = len(actions)
        if T - lo < 3 * K:
            actions += [int(votes.argmax())] * (T - lo)
            break
        arms = np.arange(3 * K) % K
        got = rewards[lo + np.arange(3 * K), arms]
        winner = int(got.reshape(3, K).sum(axis=0).argmax())
        votes[randomised(winner, K, rng)] += 1
        actions += arms.tolist()
        actions += [int(votes.argmax())] * min(2 * K, T - len(actions))
    return np.array(actions)
