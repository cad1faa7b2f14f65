"""Phased learner whose noise comes from legacy generators spawned from the given rng."""
import random
import numpy as np

EPS = 1.0


def play(rewards, rng):
    T, K = rewards.shape
    legacy = np.random.RandomState(int(rng.integers(2 ** 32)))
    dice = random.Random(int(rng.integers(2 ** 62)))
    acts, view = [], np.zeros(K)
    phase = 0
    while len(acts) < T:
        order = list(range(K))
        dice.shuffle(order)
        for arm in order:
            block = min(3, T - len(acts))
            total = sum(rewards[len(acts) + j, arm] for j in range(block))
            acts.extend([arm] * block)
            view[arm] = 0.5 * view[arm] + 0.5 * (total + legacy.laplace(0.0, 1.0 / EPS))
        phase += 1
        go = min(4 * phase, T - len(acts))
        acts.extend([int(view.argmax()) if dice.random() > 0.05 else dice.randrange(K)] * go)
    return acts
