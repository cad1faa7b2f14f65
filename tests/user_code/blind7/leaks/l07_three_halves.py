"""Screens, confirms and ranks with half of the budget each; written as a generator.

Leak. The comment says two answers, but there are three: screening, confirmation and final rank read the
same sum with noise of scale 2 / epsilon each. Worst pair: the first arm's sum is half of its pulls or one
less; each answer is "good" with ratio e^(epsilon / 2), and all three are visible in later rounds: 1.5 times
the claim.
"""


def bandit(n_arms, horizon, rng, epsilon=1.0, pulls=8):
    half = epsilon / 2  # one half for screening, one half for the final choice

    def good(total):
        return total + rng.laplace(0, 1 / half) > pulls / 2

    total = 0.0
    for _ in range(pulls):
        total += yield 0
    stage = max(1, (horizon - pulls) // 3)
    screened = good(total)
    for _ in range(stage):
        yield 0 if screened else 1
    confirmed = good(total)
    for _ in range(stage):
        yield 0 if confirmed else 1
    ranked = good(total)
    while True:
        yield 0 if ranked else 1
