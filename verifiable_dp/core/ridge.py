"""Many runs of LinUCB at once: ridge regressions whose inverses follow by the Sherman-Morrison formula."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.validate import InputError, IntArray


@dataclass(frozen=True)
class LinUCB:
    r"""LinUCB, played on all rounds of many runs at once.

    The index of an arm with context x is :math:`x^T\theta + r \|x\|_{V^{-1}}` with
    :math:`V = \lambda I + \sum x x^T` and :math:`\theta = V^{-1} \sum r x` over what its regression has seen,
    and the radius

    .. math:: r = a \sqrt{b + \log(\det V / \det \lambda I)} + c.

    Ties go to the first arm.

    Parameters
    ----------
    shared
        Whether one regression serves all arms; else each arm has its own.
    ridge
        lambda > 0.
    radius
        (a, b, c), none of them below 0; (0, 0, c) is a constant radius.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    shared: bool = False
    ridge: float = 1.0
    radius: tuple[float, float, float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        validate.positive("ridge", self.ridge)
        if len(self.radius) != 3 or not all(math.isfinite(x) and x >= 0 for x in self.radius):
            raise InputError(f"radius must be three numbers of at least 0, got {self.radius!r}")

    def play_users(self, contexts: npt.ArrayLike, rewards: npt.ArrayLike, rng: object = None) -> IntArray:
        """Arms (n, T) of n runs, each with users of its own.

        Parameters
        ----------
        contexts
            (n, T, d), or (n, T, K, d) with one for each arm.
        rewards
            (n, T, K).
        rng
            Not used.
        """
        given = np.ascontiguousarray(contexts, dtype=np.float64)
        paid = np.ascontiguousarray(rewards, dtype=np.float64)
        given = given[:, :, None] if given.ndim == 3 else given
        if paid.ndim != 3 or given.ndim != 4 or given.shape[:2] != paid.shape[:2]:
            raise InputError(
                f"contexts and rewards must have matching shapes, got {np.shape(contexts)} and {paid.shape}"
            )
        if given.shape[2] not in (1, paid.shape[2]):
            raise InputError(
                f"contexts must have one row per user or per arm, got shape {np.shape(contexts)}"
            )
        arms = np.empty(paid.shape[:2], np.int64)
        models = 1 if self.shared else paid.shape[2]
        _play(given, paid, models, float(self.ridge), np.array(self.radius, dtype=np.float64), arms)
        return arms


@kernel
def _play(contexts, rewards, models, ridge, radius, arms):  # type: ignore[no-untyped-def]
    runs, horizon, n_arms = rewards.shape
    each, d = contexts.shape[2], contexts.shape[3]
    for run in range(runs):
        inverse = np.zeros((models, d, d))
        for model in range(models):
            for i in range(d):
                inverse[model, i, i] = 1.0 / ridge
        sums, theta, grown = np.zeros((models, d)), np.zeros((models, d)), np.zeros(models)
        spread, kept = np.zeros(d), np.zeros(d)
        for t in range(horizon):
            best, chosen, least = -np.inf, 0, 0.0
            for arm in range(n_arms):
                model, x = arm % models, contexts[run, t, arm % each]
                v, mean, width = inverse[model], 0.0, 0.0
                for i in range(d):
                    total = 0.0
                    for j in range(d):
                        total += v[i, j] * x[j]
                    spread[i] = total
                    width += total * x[i]
                    mean += theta[model, i] * x[i]
                bound = radius[0] * math.sqrt(radius[1] + grown[model]) + radius[2]
                index = mean + bound * math.sqrt(max(width, 0.0))
                if index > best:
                    best, chosen, least = index, arm, width
                    kept[:] = spread
            arms[run, t] = chosen
            # What follows is V^-1 - (V^-1 x)(V^-1 x)' / (1 + x' V^-1 x).
            model, x, paid = chosen % models, contexts[run, t, chosen % each], rewards[run, t, chosen]
            v, factor = inverse[model], 1.0 / (1.0 + least)
            grown[model] += math.log1p(least)
            for i in range(d):
                sums[model, i] += paid * x[i]
                for j in range(d):
                    v[i, j] -= factor * kept[i] * kept[j]
            for i in range(d):
                total = 0.0
                for j in range(d):
                    total += v[i, j] * sums[model, j]
                theta[model, i] = total
