import numpy as np


def permute_and_flip(scores, eps, sensitivity=1.0, prng=np.random):
    """McKenna & Sheldon 2020, algorithm 1."""
    q_star = max(scores)
    for r in prng.permutation(len(scores)):
        p = np.exp(eps / (2 * sensitivity) * (scores[r] - q_star))
        if prng.rand() <= p:
            return int(r)
    return int(np.argmax(scores))


class PermuteFlipBandit:
    def __init__(self, env, epsilon=1.0, horizon=40):
        self.env, self.epsilon, self.horizon = env, epsilon, horizon

    def play(self):
        scores = [0.0] * self.env.n_arms
        for i in range(7):
            for a in range(self.env.n_arms):
                scores[a] += self.env.pull(a)
        pick = permute_and_flip(scores, self.epsilon)
        for _ in range(self.horizon - 7 * self.env.n_arms):
            self.env.pull(pick)
        return pick


if __name__ == "__main__":
    class Env:
        n_arms = 4

        def pull(self, a):
            return np.random.rand() < 0.2 * (a + 1)

    print(PermuteFlipBandit(Env()).play())
