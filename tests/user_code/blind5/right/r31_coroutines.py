"""Each arm is a coroutine which swallows rewards and hands back noisy batch averages."""
import math

EPSILON = 2.0


def arm_process(rng):
    size, estimate = 1, math.inf
    while True:
        batch = []
        while len(batch) < size:
            r = yield estimate, len(batch) > 0
            batch.append(r)
        estimate = (math.fsum(batch) + rng.laplace(0, 1 / EPSILON)) / size
        estimate += math.sqrt(1.0 / size)
        size = min(2 * size, 8)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    procs = [arm_process(rng) for _ in range(n_arms)]
    states = [next(p) for p in procs]
    arm, out = 0, []
    for t in range(horizon):
        if not states[arm][1]:
            arm = max(range(n_arms), key=lambda a: states[a][0])
        out.append(arm)
        states[arm] = procs[arm].send(float(rewards[t, arm]))
    return out
