"""Reproduces figure 2 (private follow-the-leader, eps=0.5)."""
import numpy as np

EPS = 0.5
T = 30


class BernoulliEnv:
    def __init__(self, probs):
        self.probs = np.asarray(probs)
        self.k = len(probs)

    def pull(self, arm):
        return np.random.binomial(1, self.probs[arm])


def main():
    env = BernoulliEnv([0.7, 0.5])
    S = np.zeros(env.k)
    total = 0
    for t in range(T):
        if t < env.k:
            arm = t
        else:
            noisy = S + np.random.laplace(0, 1 / EPS, env.k)   # private statistics
            arm = int(np.argmax(noisy))
        r = env.pull(arm)
        S[arm] += r
        total += r
    return total


if __name__ == "__main__":
    print("mean reward", np.mean([main() for _ in range(20)]))
