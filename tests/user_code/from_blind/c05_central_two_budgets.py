"""Plain DP of all actions, the changed round's own included.

Budget eps/2 for acting: the greedy arm for the own context goes through K-ary randomised response.
Budget eps/2 for learning: phases of 6 rounds, vector sum r x of the played arm, L1 norm of an item <= sqrt 2 (d = 2),
replacement 2 sqrt 2, noise Laplace(2 sqrt 2 / (eps/2)); each phase forgets.  Given the own action, the item still is one
vector of that norm; the two add to eps.
"""
import numpy as np


def play(contexts, rewards, rng):
    eps = 2.0
    T, K, d = contexts.shape
    keep = np.exp(eps / 2) / (np.exp(eps / 2) + K - 1)
    theta = np.array([1.0, 0.0])
    acc = np.zeros(d)
    arms = []
    for t in range(T):
        a = int(np.argmax(contexts[t] @ theta))
        if rng.random() > keep:
            a = int(rng.choice([b for b in range(K) if b != a]))
        arms.append(a)
        acc += rewards[t, a] * contexts[t, a]
        if (t + 1) % 6 == 0:
            theta = acc + rng.laplace(0, 2 * np.sqrt(d) / (eps / 2), d)
            acc = np.zeros(d)
    return np.array(arms)
