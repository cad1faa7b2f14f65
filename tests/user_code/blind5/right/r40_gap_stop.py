"""A/B test that stops once the gap seems large and then serves the noisy winner."""

EPSILON = 2.0
STOP_EPS = EPSILON / 2
SIGN_EPS = EPSILON / 2
GAP = 3.0


def play(rewards, rng):
    horizon, _ = rewards.shape
    served = []
    lead = 0.0
    bar = GAP + rng.laplace(0.0, 2.0 / STOP_EPS)
    stopped = False
    while len(served) < horizon and not stopped:
        t = len(served)
        arm = t % 2
        served.append(arm)
        lead += rewards[t, 0] if arm == 0 else -rewards[t, 1]
        if arm == 1:
            stopped = abs(lead) + rng.laplace(0.0, 4.0 / STOP_EPS) >= bar
    winner = 0 if lead + rng.laplace(0.0, 1.0 / SIGN_EPS) >= 0 else 1
    return served + [winner] * (horizon - len(served))
