"""When does the running count of large entries first cross the line?  AboveThreshold for monotone counts.

Line noise r ~ Laplace(1/EPSILON) once, count noise Laplace(1/EPSILON) per step.  Replacing entry i moves the counts from
step i on by the same amount, D' = D + 1 say; before i nothing changes.  Answer k < i: same law up to k.  From D to D',
k >= i: shift r by +1 (factor e^EPSILON); earlier "below" become no less likely and step k compares as before.  From D'
to D: no shift, earlier "below" become more likely, step k alone pays e^EPSILON.  "never": the shift at most.
So the two noises are not added up here: EPSILON is the larger of the two costs.
"""
import itertools

import numpy as np

EPSILON = 1.0
LINE = 3.0


def release_one(data, rng):
    line = LINE + rng.laplace(scale=1.0 / EPSILON)
    counts = itertools.accumulate(1 if x >= 0.5 else 0 for x in data)
    for step, count in enumerate(counts, start=1):
        if count + rng.laplace(scale=1.0 / EPSILON) >= line:
            return f"step {step}"
    return "never"


release_one.neighbours = [
    (np.array([0.0, 0.9, 0.2, 0.8, 0.1, 0.7, 0.3, 0.6]), np.array([1.0, 0.9, 0.2, 0.8, 0.1, 0.7, 0.3, 0.6])),
    (np.zeros(8), np.eye(8)[4]),
]
