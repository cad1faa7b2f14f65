"""The environments that the papers' experiments and lower bounds are about."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verifiable_dp.core import validate
from verifiable_dp.core.environments import Discrete, Pareto, TwoPoint, bernoulli
from verifiable_dp.core.validate import InputError


def s1(setting: str, n_arms: int = 5) -> TwoPoint:
    """Settings C1 to C4 of the experiments of Sajed & Sheffet (ICML 2019), Section 5.

    Parameters
    ----------
    setting
        ``C1`` equal gaps of .05; ``C2`` linear from .75 to .25; ``C3`` convex a(i-K)^2 + c;
        ``C4`` concave a(i-1)^2 + c.
    n_arms
        K, at least 2.

    Raises
    ------
    InputError
        If the setting is unknown or K < 2.
    """
    validate.choice("setting", setting, ("C1", "C2", "C3", "C4"))
    arms = validate.integer("n_arms", n_arms, least=2)
    step = np.arange(arms) / (arms - 1)
    shapes = {
        "C1": np.where(step == 0, 0.75, 0.7),
        "C2": 0.75 - 0.5 * step,
        "C3": 0.25 + 0.5 * (1 - step) ** 2,
        "C4": 0.75 - 0.5 * step**2,
    }
    return bernoulli(shapes[setting].tolist(), setting)


def s2(setting: str, v: float) -> Pareto:
    """Settings S1 to S3 of the experiments of Tao et al. (AISTATS 2022): five Pareto arms of shape 1.05 + v.

    Raises
    ------
    InputError
        If the setting is unknown or v is not in (0, 1].
    """
    validate.choice("setting", setting, ("S1", "S2", "S3"))
    if not 0 < v <= 1:
        raise InputError(f"v must lie in (0, 1], got {v!r}")
    means = {
        "S1": (0.9, 0.7, 0.5, 0.3, 0.1),
        "S2": (0.9, 0.55, 0.3, 0.15, 0.1),
        "S3": (0.9, 0.85, 0.7, 0.45, 0.1),
    }
    return Pareto(means[setting], 1.05 + v, setting)


def hard(theorem: int, *, v: float, gaps: Sequence[float], changed: int | None = None) -> Discrete:
    """Hard instance of a lower bound of Tao et al. (AISTATS 2022): arms that pay 0 or, rarely, 1/s.

    E|X|^(1+v) <= 1 on every arm; arm 0 is the best, by `gaps` over the others.

    - Theorems 5 (central) and 8 (local): s_a = (2 mu_a)^(1/v), paid with probability s_a^(1+v)/2. The best
      mean is 1/6 in Theorem 5 (gaps below 1/12); in Theorem 8 it is 4 max gap, so that
      mu_a/5 <= Delta_a <= mu_a/2 and mu_a <= 1/2.
    - Theorems 10 (central, two arms), 11 (local, two arms) and 9 (local): one gap Delta < 1/5 and one
      s = (5 Delta)^(1/v); the best arm pays with probability s^(1+v)/2, the others Delta s less often.

    Parameters
    ----------
    theorem
        5, 8, 9, 10 or 11.
    v
        In (0, 1].
    gaps
        Delta of each arm but the best, K - 1 of them.
    changed
        Number of an arm, from 1, whose law the proof replaces so that it becomes the best by its gap; None
        for the instance itself. It pays 1/s more often; in Theorem 5 it pays 1/(4 Delta)^(1/v) besides.

    Raises
    ------
    InputError
        If a parameter is out of the theorem's range.
    """
    if theorem not in (5, 8, 9, 10, 11):
        raise InputError(f"theorem must be one of 5, 8, 9, 10, 11, got {theorem!r}")
    if not 0 < v <= 1:
        raise InputError(f"v must lie in (0, 1], got {v!r}")
    most = {5: 1 / 12, 8: 1 / 8}.get(theorem, 1 / 5)
    delta = validate.rewards("gaps", gaps, (0.0, most), ndim=1)
    alone = theorem in (10, 11)
    if not len(delta) or (alone and len(delta) > 1) or not (delta > 0).all():
        number = "one gap" if alone else "one gap or more"
        raise InputError(f"gaps must contain {number} in (0, {most:g}), got {gaps!r}")
    if theorem == 9 and np.ptp(delta) > 0:
        raise InputError(f"gaps must be equal in Theorem 9, got {gaps!r}")
    if theorem == 8 and 3 * delta.min() < 2 * delta.max():
        raise InputError(f"gaps must differ by a factor of 3/2 at most in Theorem 8, got {gaps!r}")
    if changed is not None:
        validate.integer("changed", changed, least=1, most=len(delta))
    full = np.concatenate([[0.0], delta])
    if theorem in (5, 8):
        means = (1 / 6 if theorem == 5 else 4 * delta.max()) - full
        s = (2 * means) ** (1 / v)
        chances = s ** (1 + v) / 2
    else:
        s = np.full(len(full), (5 * delta[0]) ** (1 / v))
        chances = s ** (1 + v) / 2 - full * s
    laws: list[tuple[tuple[float, ...], tuple[float, ...]]] = [
        ((0.0, 1 / x), (1 - p, p)) for x, p in zip(s.tolist(), chances.tolist(), strict=True)
    ]
    if changed is not None:
        size, p, gap = float(s[changed]), float(chances[changed]), float(full[changed])
        if theorem == 5:
            far = (4 * gap) ** (1 / v)
            laws[changed] = ((0.0, 1 / size, 1 / far), (1 - p - 2 * gap * far, p, 2 * gap * far))
        else:
            more = p + 2 * gap * size
            laws[changed] = ((0.0, 1 / size), (1 - more, more))
    about = f"hard instance of Theorem {theorem}" + ("" if changed is None else f", arm {changed} changed")
    found = Discrete(tuple(x for x, _ in laws), tuple(p for _, p in laws), about)
    if found.moment(1 + v) > 1 + 1e-9:
        raise InputError(f"gaps must leave E|X|^(1+v) <= 1, got {found.moment(1 + v):g}")
    return found
