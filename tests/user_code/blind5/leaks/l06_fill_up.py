"""Play an arm until its batch has filled up, then pick the next arm by noisy pay per round."""
import math

EPSILON = 1.0
QUOTA = 3.0
LONGEST = 10


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    rate = {a: math.inf for a in range(n_arms)}
    t, out = 0, []
    while t < horizon:
        arm = max(rate, key=rate.get)
        total, n = 0.0, 0
        while t < horizon and total < QUOTA and n < LONGEST:
            total += float(rewards[t, arm])
            out.append(arm)
            n += 1
            t += 1
        rate[arm] = (total + rng.laplace(0.0, 1.0 / EPSILON)) / n
    return out
