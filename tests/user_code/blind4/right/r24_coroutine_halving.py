"""Sequential halving written as a coroutine that yields arms and receives rewards."""
import math

EPSILON = 1.0


def halving(k, horizon, rng):
    arms = list(range(k))
    rounds = max(1, math.ceil(math.log2(k)))
    for _ in range(rounds):
        m = max(1, horizon // (2 * rounds * len(arms)))
        score = {}
        for a in arms:
            total = 0.0
            for _ in range(m):
                total += yield a
            score[a] = total + rng.laplace(0.0, 1.0 / EPSILON)
        arms = sorted(arms, key=score.__getitem__, reverse=True)[: math.ceil(len(arms) / 2)]
    while True:
        yield arms[0]


def play(rewards, rng):
    T, K = rewards.shape
    player = halving(K, T, rng)
    arm = next(player)
    trace = []
    for t in range(T):
        trace.append(arm)
        if t + 1 < T:
            arm = player.send(float(rewards[t, arm]))
    return trace
