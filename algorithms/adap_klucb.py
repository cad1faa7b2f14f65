"""AdaP-KLUCB: KL-UCB on noisy means of doubling episodes (Azize & Basu 2022, Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from verifiable_dp.algorithms import papers
from verifiable_dp.algorithms.adap_ucb import AdaPUCB
from verifiable_dp.core.claims import Source
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.query import Own
from verifiable_dp.core.validate import FloatArray


@kernel
def _kl_bounds(means, levels):  # type: ignore[no-untyped-def]
    """Newton's method from above: d(p, .) is convex beyond p, so that it never steps below the root."""
    found = np.ones(len(means))
    for i in range(len(means)):
        p, level = means[i], levels[i]
        if p >= 1:
            continue
        known = p * math.log(p) if p > 0 else 0.0
        # Pinsker's inequality, and d(p, q) without its part -p log q.
        q = min(p + math.sqrt(level / 2), 1 - (1 - p) * math.exp((known - level) / (1 - p)))
        for _ in range(60):
            if not p < q < 1:
                break
            entropy = (1 - p) * math.log((1 - p) / (1 - q)) + (p * math.log(p / q) if p > 0 else 0.0)
            step = (entropy - level) * q * (1 - q) / (q - p)
            q -= step
            if step < 1e-15:
                break
        found[i] = min(max(q, p), 1.0)
    return found


def kl_bound(mean: FloatArray, level: FloatArray) -> FloatArray:
    """The largest q in [mean, 1] with d(mean, q) <= level, elementwise; d of Bernoulli laws."""
    mean, level = np.broadcast_arrays(mean, level)
    return np.asarray(_kl_bounds(mean.ravel(), level.ravel()).reshape(mean.shape))


@dataclass(frozen=True)
class AdaPKLUCB(AdaPUCB):
    r"""AdaP-UCB with the index of KL-UCB, which is sharper where means are near 0 or 1.

    With n_a, t and :math:`\tilde\mu_a` as in `AdaPUCB`, the index is the largest q in [0, 1] with
    :math:`d(\breve\mu_a, q) \le \alpha \log t/n_a`. Here d is the relative entropy of Bernoulli
    distributions, and :math:`\breve\mu_a` is the noisy mean plus :math:`\alpha \log t/(\varepsilon n_a)`,
    clipped to [0, 1].

    Regret: O(sum_a Delta_a log T/min(d(mu_a, mu*), epsilon Delta_a)) for Bernoulli rewards (Theorem 8, whose
    constants C_1(alpha) and C_2 are not given in its statement). For short T, all arms have index 1 and are
    played in turn.

    Parameters
    ----------
    n_arms, epsilon, horizon, alpha
        See `AdaPUCB`.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    name: ClassVar[str] = "adap-klucb"
    statement: ClassVar[Source] = Source(papers.AZIZE, "Theorem 6")

    def index(self, state: Own) -> FloatArray:
        """Upper confidence bounds of KL-UCB, for means with the width of the noise added."""
        log, n = self.alpha * np.log(state.t + 1.0)[:, None], self.last(state)
        mean = np.clip(state.estimate + self.width(state), 0.0, 1.0)
        return kl_bound(mean, log / n)

    def width(self, state: Own) -> FloatArray:
        """Width of the noise alone, (n, K)."""
        return np.asarray(self.alpha * np.log(state.t + 1.0)[:, None] / (self.epsilon * self.last(state)))
