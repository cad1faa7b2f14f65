"""Judge an arm by noisy totals over consecutive stretches of rounds."""

EPSILON = 1.0
STRETCH = 4


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    arm, arms, seen = 0, [], []
    mark = 0
    while len(arms) < horizon:
        seen.append(float(rewards[len(arms), arm]))
        arms.append(arm)
        if len(seen) - 1 - mark == STRETCH:
            stretch = seen[mark:len(seen)]
            total = sum(stretch) + rng.laplace(0.0, 1.0 / EPSILON)
            mark = len(seen) - 1
            if total < len(stretch) / 2:
                arm = (arm + 1) % n_arms
    return arms
