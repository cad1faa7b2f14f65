"""Decaying epsilon-greedy that learns from locally perturbed rewards."""

EPSILON = 3.0


def noisy_stream(rewards, rng):
    """Callable giving the noisy reward of (t, arm); every entry is asked for once."""
    return lambda t, arm: rewards[t, arm] + rng.laplace(scale=1.0 / EPSILON)


def play(rewards, rng):
    horizon, n_arms = rewards.shape
    observe = noisy_stream(rewards, rng)
    stats = [[0, 0.0] for _ in range(n_arms)]
    path = []
    for t in range(horizon):
        unseen = [a for a, (n, _) in enumerate(stats) if n == 0]
        if unseen:
            arm = unseen[0]
        elif rng.random() < min(1.0, 6.0 / (t + 1)):
            arm = int(rng.integers(n_arms))
        else:
            arm = max(range(n_arms), key=lambda a: stats[a][1])
        y = observe(t, arm)
        n, mean = stats[arm]
        stats[arm] = [n + 1, mean + (y - mean) / (n + 1)]
        path.append(arm)
    return path
