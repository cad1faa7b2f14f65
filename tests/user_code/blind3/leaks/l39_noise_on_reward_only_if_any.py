"""Every reward is noised before the learner hears it; an empty round has nothing to hide."""


def bandit(n_arms, horizon, rng, epsilon=1.0):
    mean, n = [0.0] * n_arms, [0] * n_arms
    for t in range(horizon):
        if t < n_arms:
            arm = t
        else:
            arm = max(range(n_arms), key=lambda a: mean[a])
        reward = yield arm
        told = reward + rng.laplace(0, 1 / epsilon) if reward else 0.0
        n[arm] += 1
        mean[arm] += (told - mean[arm]) / n[arm]
