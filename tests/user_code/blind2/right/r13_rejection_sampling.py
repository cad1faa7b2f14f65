"""Laplace by rejection: a Cauchy proposal x is accepted with chance (1 + x^2) exp(-|x|).

That is the ratio of the densities up to a constant and never above 1, as (1 + x^2) e^{-x} falls from 1 on x >= 0.
The accepted x is Laplace(1) exactly.  D = sum of arm 1 - sum of arm 0 over 20 fixed turns has sensitivity 1; its
sign after adding x/eps is eps-DP.
"""
import numpy as np


def std_laplace(rng):
    while True:
        x = np.tan(np.pi * (rng.random() - 0.5))
        if rng.random() < (1 + x * x) * np.exp(-abs(x)):
            return x


def play(rewards, rng):
    T = len(rewards)
    turn = np.arange(20) % 2
    r = rewards[np.arange(20), turn]
    D = r[turn == 1].sum() - r[turn == 0].sum()
    commit = int(D + std_laplace(rng) / 0.5 > 0)
    return np.r_[turn, np.full(T - 20, commit)]
