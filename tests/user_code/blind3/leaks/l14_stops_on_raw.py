"""Play an arm until it has paid 2 (or ten rounds), then publish its noisy rate and go to the best."""


def play(rewards, rng, epsilon=1.0):
    horizon, k = rewards.shape
    rate = [float("inf")] * k
    actions = []
    while len(actions) < horizon:
        arm = max(range(k), key=lambda a: rate[a])
        paid, n = 0.0, 0
        while paid < 2 and n < 10 and len(actions) < horizon:
            paid += rewards[len(actions), arm]
            actions.append(arm)
            n += 1
        rate[arm] = (paid + rng.laplace(0, 1 / epsilon)) / n
    return actions
