import numpy as np


class SparseVectorSwitch:
    """Stay with arm 0 until it has disappointed for long enough; then arm 1 for good.

    AboveThreshold: query t is the sum of (0.5 - x_s) over the rounds so far, sensitivity 1.  The threshold gets
    Laplace(2/eps) once, every query gets fresh Laplace(4/eps), and we stop at the first crossing.  That is eps-DP
    (Dwork & Roth, Thm 3.23).  After the switch no reward is used.
    """

    def __init__(self, n_arms, horizon, epsilon=1.0, rng=None, threshold=3.0):
        self.eps = epsilon
        self.rng = rng
        self.hidden = threshold + rng.laplace(0, 2 / epsilon)
        self.disappointment = 0.0
        self.switched = False

    def select(self):
        return 1 if self.switched else 0

    def update(self, arm, reward):
        if self.switched:
            return
        self.disappointment += 0.5 - reward
        if self.disappointment + self.rng.laplace(0, 4 / self.eps) >= self.hidden:
            self.switched = True
