import math
import random


def explore_commit(n_arms, horizon, epsilon=1.0):
    """Coroutine: send() the reward of the arm that was yielded."""
    totals = [0.0] * n_arms
    t = 0
    while t < 6 * n_arms:
        arm = t % n_arms
        totals[arm] += yield arm
        t += 1
    top = max(totals)
    arm = random.choices(range(n_arms), weights=[math.exp(epsilon * (s - top)) for s in totals])[0]
    while t < horizon:
        yield arm
        t += 1


if __name__ == "__main__":
    g = explore_commit(3, 30)
    a = next(g)
    try:
        while True:
            a = g.send(float(random.random() < 0.5))
    except StopIteration:
        print(a)
