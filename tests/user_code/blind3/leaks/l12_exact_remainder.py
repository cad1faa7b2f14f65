"""Running totals in blocks of six. A closed block is stored with noise; the open one is added on the fly."""


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    stored, open_ = [0.0] * k, [0.0] * k
    pulls = [0] * k
    actions = []
    for t in range(horizon):
        if t < k:
            arm = t
        else:
            value = [(stored[a] + open_[a]) / pulls[a] for a in range(k)]
            arm = value.index(max(value))
        open_[arm] += rewards[t, arm]
        pulls[arm] += 1
        actions.append(arm)
        if (t + 1) % 6 == 0:
            for a in range(k):
                stored[a] += open_[a] + rng.laplace(0, 1 / epsilon)
                open_[a] = 0.0
    return actions
