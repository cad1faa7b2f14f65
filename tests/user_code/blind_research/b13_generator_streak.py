import numpy as np


def streaky(n_arms, horizon, epsilon=1.0):
    """Play-the-winner with patience, then a private choice (Laplace on sums)."""
    sums = np.zeros(n_arms)
    t = 0
    for arm in range(n_arms):
        bad = 0
        for _ in range(10):
            reward = yield arm
            t += 1
            sums[arm] += reward
            bad = bad + 1 if reward < 0.5 else 0
            if bad == 2:
                break
    winner = int(np.argmax(sums + np.random.laplace(0, 1 / epsilon, n_arms)))
    while t < horizon:
        yield winner
        t += 1


if __name__ == "__main__":
    gen = streaky(2, 36)
    arm, seq = next(gen), []
    for _ in range(35):
        seq.append(arm)
        arm = gen.send(float(np.random.rand() < 0.5))
    print(seq)
