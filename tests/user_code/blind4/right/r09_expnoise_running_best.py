"""Commit to the arm with the largest exponentially perturbed sum (running best)."""

EPS = 2.0


def play(rewards, rng):
    T, K = rewards.shape
    per_arm = T // (3 * K)
    log = []
    best_value, best_arm = float("-inf"), None
    t = 0
    for arm in range(K):
        acc = 0.0
        for _ in range(per_arm):
            acc += float(rewards[t, arm])
            log.append(arm)
            t += 1
        value = acc + rng.exponential(scale=2.0 / EPS)
        if value > best_value:
            best_value, best_arm = value, arm
    while t < T:
        log.append(best_arm)
        t += 1
    return log
