"""Blocks of play steered by three noisy gauges: level, hits and the closing reward."""

EPSILON = 0.5
BLOCK = 6


def gauge(value, rng):
    return value + rng.laplace(0.0, 1.0 / EPSILON)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arms, arm, length = [], 0, BLOCK
    while len(arms) < horizon:
        t = len(arms)
        block = [float(r) for r in rewards[t:t + length, arm]]
        arms += [arm] * len(block)
        level = gauge(sum(block), rng)
        hits = gauge(sum(r >= 0.5 for r in block), rng)
        closing = gauge(block[-1], rng)
        length = BLOCK if hits >= len(block) / 2 else BLOCK // 2
        if level < len(block) / 2:
            arm = (arm + (1 if closing >= 0.5 else 2)) % n_arms
    return arms
