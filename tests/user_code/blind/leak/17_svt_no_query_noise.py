"""Stops exploring when the running total of all rewards crosses a noisy threshold.

The question is asked once in a cycle of all arms.

Flaw: queries carry no noise of their own. The total stays as it is over a cycle without rewards, so that a stop after this very cycle is
impossible, and possible if it holds a reward. Pair (K = 2): all rewards 1 but for arm 1 in round 5, which is 0, against the same with 0 for arm 0 in round 4,
too. Event: exploring stops after round 5. Then arms alternate up to round 5 and the first repetition is in round 6 or 7, as
for no other stop. It needs a noisy threshold in (4, 5], chance (1 - e^(-1/2)) / 2 = 0.197, against an empty interval. Infinite.
"""

import numpy as np

EPSILON = 1.0
THRESHOLD = 5.0


def play(rewards, rng):
    T, K = rewards.shape
    threshold = THRESHOLD + rng.laplace(0, 2 / EPSILON)
    total, committed = 0.0, None
    actions = np.zeros(T, dtype=int)
    for t in range(T):
        a = t % K if committed is None else committed
        actions[t] = a
        if committed is None:
            total += rewards[t, a]
            if t % K == K - 1 and total >= threshold:
                committed = int(rng.integers(K))
    return actions
