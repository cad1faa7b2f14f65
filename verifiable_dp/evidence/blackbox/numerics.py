r"""Numerical leaks: does the floating-point sampler itself keep the promise of the real-valued mechanism?

A double that is `data + noise` carries the data in its last bits: near 0, `1 + noise` is a multiple of
2^-53, while noise by itself has all bits of a much finer grid. The sets of doubles that two inputs can
produce thus differ, however much noise there is.

Three families of public functions of an output o are looked at, each as a discrete column:

- the exponents of its highest and of its lowest set bit: on which lattice does it lie?
- the same of o - x, for the values x that the two inputs would show without noise;
- whether some uniform u = k 2^-53 makes x + scale log(u) or x - scale log(u) exactly o, for both x: can an
  inverse-cdf sampler have produced it?

The event is chosen among them on selection runs and tested on fresh runs, as in `blackbox`.

The same test is made of a sampler that leaks, x + Laplace noise in double precision. Where that one is not
refuted, on these inputs and with so many runs, the check says nothing: it is ``inconclusive``.

References
----------
I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import UNSET, UnsetType

from verifiable_dp.core.kernels import kernel
from verifiable_dp.core.noise import key_of
from verifiable_dp.core.validate import FloatArray, Given, IntArray, Json, JsonDict
from verifiable_dp.evidence.blackbox import test as blackbox
from verifiable_dp.evidence.blackbox.events import Observation
from verifiable_dp.evidence.blackbox.test import TEST, Plan, Selected, Terms, Tested, both_sides
from verifiable_dp.evidence.check import Check, Kind, in_words, judged
from verifiable_dp.evidence.fields import Count, Hits, Loss, Probability, Real, Recorded, Text, Verdict, said
from verifiable_dp.evidence.words import digits

NAME = "floating-point sampler"
_STAGE = 16  # added to a stage: these runs are not those of the idealised audit
_OUTPUTS = 8  # outputs that are looked at, the first ones
_WINDOW = 12  # neighbours of the nearest uniform that are tried


class ControlCounts(Recorded, frozen=True):
    """Hits and runs of a sampler that is known to leak."""

    k1: Count
    n1: Count
    k0: Count
    n0: Count


class NumericsStatistics(Tested, frozen=True, kw_only=True):
    """Counts of an event in the last bits of outputs, on both inputs."""

    event: Annotated[Text, said("A set of last bits of the outputs.")]
    observe: Literal["releases"]
    k1: Hits
    n1: Count
    k0: Count
    n0: Count
    control: Annotated[
        ControlCounts,
        said("The same counts of a sampler that is known to leak: Laplace noise added in double precision."),
    ]
    sampler: Annotated[
        Text | UnsetType,
        said("The sampler, if it was the production sampler, whose draws cannot be repeated."),
    ] = UNSET


class NumericsResult(Recorded, frozen=True):
    """What follows."""

    verdict: Verdict
    p_value: Probability
    epsilon_lower: Loss
    epsilon_point: Real
    control_epsilon_lower: Loss


NUMERICS = Kind(
    "numerics",
    "privacy",
    "exact test of an event in the outputs' last bits; other runs chose the event",
    "Mironov, On Significance of the Least Significant Bits for Differential Privacy, CCS 2012",
    short="the test of last bits",
    rank=60,
    runs=both_sides,
    counts=True,
    statistics=NumericsStatistics,
    result=NumericsResult,
)


class Releases(Protocol):
    """A mechanism whose outputs are sampled."""

    @property
    def shard(self) -> int:
        """See `blackbox.Sampler.shard`."""
        ...

    def values(self, data: npt.ArrayLike, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs (n, m) of runs on `data`."""
        ...


def lattice(values: FloatArray) -> IntArray:
    """Code of the exponents of the highest and of the lowest set bit of each double, (n,).

    Zero and what is not finite have codes of their own.
    """
    fraction, high = np.frexp(values)
    fine = np.isfinite(values) & (values != 0)
    digits = np.where(fine, np.abs(fraction) * 2.0**53, 1.0).astype(np.int64)
    trailing = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    code = (high.astype(np.int64) + 2048) * 4096 + (high - 53 + trailing + 2048)
    other = np.where(np.isnan(values), -3, np.where(values == 0, -1, -2))
    return np.where(fine, code, other)


@kernel
def attainable(values, shown, scale):  # type: ignore[no-untyped-def]
    """Whether shown + scale log(u) or shown - scale log(u) is exactly the value, 0 or 1, (n,).

    Among the multiples u of 2^-52 (above `shown`: of 2^-53, see `numpy.random.Generator.laplace`, which takes
    2 - u - u there) next to the one that the real-valued inverse gives.
    """
    out = np.zeros(len(values), np.int64)
    for i in range(len(values)):
        away = (values[i] - shown) / scale
        sign, each = (1.0, 2.0) if away < 0 else (-1.0, 1.0)
        nearest = each * np.rint(math.exp(-abs(away)) * (9007199254740992.0 / each))
        for step in range(-_WINDOW, _WINDOW + 1):
            k = nearest + each * step
            if 1.0 <= k <= 9007199254740992.0:
                noise = sign * (scale * math.log(k * 1.1102230246251565e-16))
                if shown + noise == values[i]:
                    out[i] = 1
                    break
    return out


def shown_without_noise(data: npt.ArrayLike, outputs: int) -> FloatArray:
    """What each output may show of the data before noise, (c, m): its entry, or its sum and its mean."""
    flat = np.asarray(data, dtype=np.float64).ravel()
    if flat.size in (1, outputs):
        return np.broadcast_to(flat, (1, outputs))
    return np.repeat([[flat.sum()], [flat.mean()]], outputs, axis=1)


@dataclass(frozen=True)
class BitSampler:
    """Runs of a mechanism seen through the last bits of its outputs; a `blackbox.Sampler`.

    Parameters
    ----------
    releases
        The mechanism.
    scales
        Scales of noise to try in `attainable`, by number of the pair.
    """

    releases: Releases
    scales: Sequence[tuple[float, ...]]

    @property
    def shard(self) -> int:
        """As that of the mechanism."""
        return self.releases.shard

    def sample(self, pair: Given, world: int, stage: int, number: int, runs: IntArray) -> Observation:
        """See `blackbox.Sampler.sample`."""
        worlds = pair.worlds()
        values = self.releases.values(worlds[world], (stage + _STAGE, number, world), runs)
        both = [shown_without_noise(data, values.shape[1]) for data in worlds]
        columns: dict[str, IntArray] = {}
        for j, column in enumerate(values.T[:_OUTPUTS]):
            name = f"output {j + 1}"
            columns[f"exponents of the highest and lowest bit of {name}"] = lattice(column)
            for left, right in zip(both[0][:, j].tolist(), both[1][:, j].tolist(), strict=True):
                for x in dict.fromkeys((left, right)):
                    if x != 0:
                        columns[f"exponents of the highest and lowest bit of {name} - {x!r}"] = lattice(
                            column - x
                        )
                for scale in self.scales[number] if left != right else ():
                    code = attainable(column, left, scale) + 2 * attainable(column, right, scale)
                    what = (
                        f"whether Laplace noise of scale {scale!r} on {left!r}, on {right!r} can give {name}"
                    )
                    columns[what] = code
        return Observation(len(runs), columns)


@dataclass(frozen=True)
class NaiveLaplace:
    """What must be refuted: Laplace noise in double precision, added to what the data would show."""

    scale: float
    seed: int
    shard: int = 1 << 17

    def values(self, data: npt.ArrayLike, path: tuple[int, ...], runs: IntArray) -> FloatArray:
        """Outputs (n, m)."""
        shown = np.asarray(data, dtype=np.float64).ravel()
        bits = np.random.Philox(counter=[0, 0, int(runs[0]), 0], key=key_of(self.seed, path))
        noise = np.random.Generator(bits).laplace(0.0, self.scale, (len(runs), len(shown)))
        return np.asarray(shown + noise)


def scales_of(pairs: Sequence[Given], epsilon: float) -> tuple[float, ...]:
    """Scales that Laplace noise would have: the change in a pair, or 1, over epsilon."""
    changes = [1.0]
    for pair in pairs:
        left, right = (np.asarray(data, dtype=np.float64).ravel() for data in pair.worlds())
        if left.shape == right.shape:
            changes.append(float(np.abs(left - right).sum()))
    return tuple(dict.fromkeys(change / epsilon for change in changes if change > 0))


def sizes(select: int, test: int) -> Plan:
    """Runs a side of this check from those of the idealised audit: a leak of the sampler shows early."""
    return Plan(probe=min(select, 4096), select=min(select, 1 << 16), test=min(test, 1 << 17))


def check(
    releases: Releases,
    pairs: Sequence[Given],
    plan: Plan,
    terms: Terms,
    scales: Sequence[float] | None = None,
) -> tuple[Check, Selected]:
    """Test the last bits of outputs; also the pair and the event.

    Parameters
    ----------
    releases
        The mechanism.
    pairs
        Neighbouring data; the most promising one is tested.
    plan
        See `sizes`.
    terms
        As of any test; outputs depend on the mechanism's own seed.
    scales
        Scale of the noise by pair, where it is known.
    """
    often = scales_of(pairs, terms.claim.epsilon)
    known = [often] * len(pairs) if scales is None else [(scale,) for scale in scales]
    chosen, counts = _tested(BitSampler(releases, known), pairs, plan, terms)
    control = _control(chosen.pair, known[chosen.number], plan, terms)
    one, zero = (1, 0) if chosen.event.flipped else (0, 1)
    statistics = {
        "pair": chosen.pair.describe(),
        "pair_number": chosen.number,
        "observe": "releases",
        "event": chosen.event.describe(),
        "direction": f"world {one} over world {zero}",
        **counts,
        "control": control,
        **terms.as_dict(),
    }
    return Check.of(NAME, "numerics", statistics), chosen


def _control(pair: Given, scales: tuple[float, ...], plan: Plan, terms: Terms) -> dict[str, int]:
    """Counts of the sampler that leaks."""
    naive = BitSampler(NaiveLaplace(scales[-1], terms.seed), [scales])
    return _tested(naive, [pair], plan, replace(terms, workers=1))[1]


def telling(pair: Given, scale: float, plan: Plan, terms: Terms) -> bool:
    """Whether the sampler that leaks is refuted on a pair, with noise of this scale."""
    counts = _control(pair, (scale,), plan, terms)
    return bool(judged("black_box", {**counts, **terms.as_dict()})["verdict"] == "refuted")


def _tested(
    sampler: BitSampler, pairs: Sequence[Given], plan: Plan, terms: Terms
) -> tuple[Selected, dict[str, int]]:
    """The event chosen on selection runs, and its counts in fresh ones."""
    delta = terms.claim.delta
    [chosen], _ = blackbox.select(sampler, pairs, plan, delta=delta, workers=terms.workers)
    found = blackbox.coin_sizes(plan.test, delta, terms.seed, (TEST + _STAGE, chosen.number))
    hits = blackbox.count(sampler, chosen, found, terms.workers)
    one, zero = (1, 0) if chosen.event.flipped else (0, 1)
    return chosen, {"k1": hits[one], "n1": found[one], "k0": hits[zero], "n0": found[zero]}


def _scales(statistics: Json, result: Json) -> Json:
    """As a black box, for the mechanism and for the control."""
    found = blackbox.scales(statistics, result)["result"]
    control = blackbox.scales({**statistics, **statistics["control"]}, result)["result"]
    return {"result": {**found, "control_epsilon_lower": control["epsilon_lower"]}}


@NUMERICS.judged_by(_scales)
def _judge(statistics: Json) -> JsonDict:
    """As a black box; inconclusive where the sampler that is known to leak is not refuted either."""
    result = judged("black_box", statistics)
    control = judged("black_box", {**statistics, **statistics["control"]})
    if result["verdict"] == "not_refuted" and control["verdict"] != "refuted":
        result["verdict"] = "inconclusive"
    result.pop("detectable", None)  # at a set of last bits: it says nothing of the power of the audit
    return {**result, "control_epsilon_lower": control["epsilon_lower"]}


@NUMERICS.worded_by
def _numerics_in_words(numbers: Json, result: Json) -> str:
    leaky = f"as a control, a leaking sampler has epsilon at least {digits(result['control_epsilon_lower'])}"
    drew = f"drawn by {numbers['sampler']}: " if "sampler" in numbers else ""
    return f"{drew}{in_words(Check('', 'black_box', numbers, result))}; {leaky}"
