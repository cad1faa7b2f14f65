"""Stay or switch on a secret quarter of each batch, using privacy amplification by sampling."""

EPSILON = 1.0
RATE = 0.25
INNER = EPSILON / RATE
BATCH = 8


def sampled_sum(values, rng):
    return sum(float(v) for v in values if rng.random() < RATE) + rng.laplace(0.0, 1.0 / INNER)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm, arms = 0, []
    while len(arms) < horizon:
        t = len(arms)
        batch = rewards[t:t + BATCH, arm]
        arms += [arm] * len(batch)
        if sampled_sum(batch, rng) < 0.5 * RATE * len(batch):
            arm = (arm + 1) % n_arms
    return arms
