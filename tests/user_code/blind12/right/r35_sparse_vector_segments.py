"""Rotating arms with a one-shot sparse vector per segment, epsilon = 1.5 (pure).

A segment stays on one arm; after each round the running loss of the segment plus
fresh Laplace noise is compared with a noisy limit.  At the first crossing the
segment ends, everything about it is thrown away, and the next arm starts afresh.

A changed reward moves all later running losses of its own segment the same way, and
the stop comes after it (or the reward is not seen at all).  So a lower loss costs
only the noise of the crossing query and a higher loss only the noise of the limit:
scale 1 / epsilon for both is enough.
"""
import numpy as np

EPS = 1.5
LIMIT = 3.0


def laplace_stream(scale, rng):
    while True:
        u = rng.random() - 0.5
        yield -scale * np.sign(u) * np.log1p(-2.0 * min(abs(u), 0.5 - 1e-16))


def segment(noise):
    """Coroutine: receives losses, yields True at the crossing."""
    limit = LIMIT + next(noise)
    running, crossed = 0.0, False
    while not crossed:
        loss = yield crossed
        running += min(1.0, max(0.0, loss))
        crossed = bool(running + next(noise) >= limit)
    yield True


def play(rewards, rng):
    T, K = rewards.shape
    noise = laplace_stream(1.0 / EPS, rng)
    order = rng.permutation(K)
    pos, seg = 0, None
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        if seg is None:
            seg = segment(noise)
            next(seg)
        arm = int(order[pos % K])
        actions[t] = arm
        if seg.send(1.0 - float(rewards[t, arm])):
            pos, seg = pos + 1, None
    return actions
