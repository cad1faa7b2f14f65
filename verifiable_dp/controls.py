"""Controls: classic mechanisms, right and broken, whose true epsilon is computed here.

An auditor that is right must refute those whose truth exceeds the claim, and no other; `selftest` shows it.
Queries change by at most 1 between the two inputs of a control's pair.

Sources: Dwork & Roth, "The algorithmic foundations of differential privacy", 2014; the pairs are those
commonly used to compare testers (Ding et al., "Detecting violations of differential privacy", CCS 2018).
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import integrate, stats

from verifiable_dp import _validate
from verifiable_dp.auditing.user import audit_release
from verifiable_dp.evidence.blackbox import ALPHA
from verifiable_dp.reporting import conclude


@dataclass(frozen=True)
class Control:
    """A mechanism with known truth.

    Attributes
    ----------
    name
        Short.
    release
        `release(data, size, rng) -> (size, ...)`.
    pair
        Neighbouring data.
    claimed
        The epsilon that is tested.
    truth
        Its true epsilon on this pair.
    """

    name: str
    release: Callable[..., Any]
    pair: tuple[Any, Any]
    claimed: float
    truth: float

    @property
    def expected(self) -> str:
        """The right verdict."""
        return "refuted" if self.truth > self.claimed * (1 + 1e-9) else "not_refuted"


def _laplace(scale: float) -> Callable[..., Any]:
    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        data = np.asarray(data, dtype=np.float64)
        return data + rng.laplace(0, scale, (size, *data.shape))

    return release


def _noisy_max(noise: str, scale: float) -> Callable[..., Any]:
    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        return (data + getattr(rng, noise)(scale=scale, size=(size, len(data)))).argmax(axis=1)

    return release


def _response(probability: float) -> Callable[..., Any]:
    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        return np.where(rng.random(size) < probability, data, 1 - data)

    return release


def _geometric(epsilon: float, most: int) -> Callable[..., Any]:
    def release(data: Any, size: int, rng: np.random.Generator) -> Any:
        ratio = -math.expm1(-epsilon)
        noise = rng.geometric(ratio, size) - rng.geometric(ratio, size)
        return np.clip(data + noise, 0, most)

    return release


def noisy_max_truth(left: Sequence[float], right: Sequence[float], law: Any) -> float:
    """Largest |log ratio| of the index of the noisy maximum, by quadrature over the winner's noise.

    Parameters
    ----------
    left, right
        Query answers, (k,) each.
    law
        Frozen scipy distribution of the noise.
    """

    def wins(queries: Sequence[float], index: int) -> float:
        others = [q for j, q in enumerate(queries) if j != index]
        low, high = max(law.support()[0], -80.0), 80.0
        kinks = sorted({q - queries[index] for q in others} | {0.0})

        def density(x: float) -> float:
            return float(law.pdf(x) * np.prod([law.cdf(queries[index] + x - q) for q in others]))

        marks = [low, *[k for k in kinks if low < k < high], high]
        return float(
            sum(
                integrate.quad(density, a, b, epsabs=1e-14, limit=400)[0]
                for a, b in itertools.pairwise(marks)
            )
        )

    return max(abs(math.log(wins(left, i)) - math.log(wins(right, i))) for i in range(len(left)))


def controls() -> list[Control]:
    """All controls; epsilon 1 is claimed unless its name says otherwise."""
    counts = np.array([10.0, 20.0, 30.0, 40.0, 50.0])
    changed = counts + np.array([1.0, 0, 0, 0, 0])
    answers = (np.ones(5), np.array([0.0, 2, 2, 2, 2]))
    lists = (answers[0].tolist(), answers[1].tolist())
    law = stats.laplace(scale=2.0)
    one_sided = stats.expon(scale=2.0)
    keep = math.e / (1 + math.e)
    return [
        Control("laplace", _laplace(1.0), (0.0, 1.0), 1.0, 1.0),
        Control("laplace-half", _laplace(0.5), (0.0, 1.0), 1.0, 2.0),
        Control("histogram", _laplace(1.0), (counts, changed), 1.0, 1.0),
        Control("histogram-half", _laplace(0.5), (counts, changed), 1.0, 2.0),
        Control("histogram-claim", _laplace(0.5), (counts, changed), 0.5, 2.0),
        Control("noisy-max-laplace", _noisy_max("laplace", 2.0), answers, 1.0, noisy_max_truth(*lists, law)),
        Control(
            "noisy-max-exponential",
            _noisy_max("exponential", 2.0),
            answers,
            1.0,
            noisy_max_truth(*lists, one_sided),
        ),
        Control(
            "noisy-max-laplace-half",
            _noisy_max("laplace", 1.0),
            answers,
            1.0,
            noisy_max_truth(*lists, stats.laplace(scale=1.0)),
        ),
        Control("randomised-response", _response(keep), (0, 1), 1.0, 1.0),
        Control("randomised-response-bold", _response(0.85), (0, 1), 1.0, math.log(0.85 / 0.15)),
        Control("truncated-geometric", _geometric(1.0, 10), (4, 5), 1.0, 1.0),
        Control("truncated-geometric-half", _geometric(2.0, 10), (4, 5), 1.0, 2.0),
    ]


@dataclass(frozen=True)
class Outcome:
    """What the audit of a control gave.

    Attributes
    ----------
    control
        The control.
    verdict, bound
        Of the audit.
    samples
        Draws of the deciding test, both sides.
    cpu_seconds
        Of the whole audit.
    """

    control: Control
    verdict: str
    bound: float
    samples: int
    cpu_seconds: float

    @property
    def right(self) -> bool:
        """Whether the verdict on refutation is that of the truth."""
        return (self.verdict == "refuted") == (self.control.expected == "refuted")

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "control": self.control.name,
            "claimed": self.control.claimed,
            "truth": self.control.truth,
            "expected": self.control.expected,
            "verdict": self.verdict,
            "epsilon_lower": self.bound,
            "samples": self.samples,
            "cpu_seconds": round(self.cpu_seconds, 3),
            "right": self.right,
        }


def selftest(*, budget: str | float = "quick", seed: int = 0, alpha: float = ALPHA) -> list[Outcome]:
    """Audit every control.

    Parameters
    ----------
    budget
        As `audit`.
    seed
        Whole number.
    alpha
        Level of a refutation.

    Returns
    -------
    list of Outcome
        `right` says whether each came out as its truth says.

    Raises
    ------
    InputError
        If an argument is out of range.
    """
    _validate.integer("seed", seed, least=0)
    outcomes = []
    for control in controls():
        start = time.process_time()
        draft = audit_release(
            control.release,
            name=control.name,
            epsilon=control.claimed,
            pairs=[control.pair],
            budget=budget,
            seed=seed,
            alpha=alpha,
        )
        numbers = draft["checks"][-1]["statistics"]
        outcomes.append(
            Outcome(
                control,
                conclude.privacy(draft["checks"], draft["power"]),
                float(conclude.epsilon_lower(draft["checks"])),
                int(numbers["n0"]) + int(numbers["n1"]),
                time.process_time() - start,
            )
        )
    return outcomes
