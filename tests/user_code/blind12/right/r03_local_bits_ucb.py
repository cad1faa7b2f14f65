"""UCB in the local model with one-bit reports.

The device rounds its reward to a bit at random (P(1) = reward) and sends the bit through
Warner's randomised response; the server sees reports only and runs UCB on the debiased
frequency.  Claim: epsilon-local-DP, epsilon = 1.0, for every reward.
"""
from math import exp, log, sqrt

EPS = 1.0


def make_device(rng, eps):
    keep = exp(eps) / (1.0 + exp(eps))

    def report(reward):
        bit = rng.random() < reward
        return int(bit) if rng.random() < keep else int(not bit)

    return report


def make_server(k, eps):
    p = exp(eps) / (1.0 + exp(eps))
    ones = [0] * k
    pulls = [0] * k

    def receive(arm, bit):
        ones[arm] += bit
        pulls[arm] += 1

    def choose():
        if 0 in pulls:
            return pulls.index(0)
        clock = sum(pulls)

        def score(a):
            freq = ones[a] / pulls[a]
            return (freq - (1 - p)) / (2 * p - 1) + sqrt(0.5 * log(clock) / pulls[a])

        return max(range(k), key=score)

    return receive, choose


def play(rewards, rng):
    horizon, k = rewards.shape
    report = make_device(rng, EPS)
    receive, choose = make_server(k, EPS)
    path = []
    for t in range(horizon):
        arm = choose()
        receive(arm, report(rewards[t, arm]))
        path.append(arm)
    return path
