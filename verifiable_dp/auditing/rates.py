"""Rates that are claimed of regret, such as ``{"T": .5, "epsilon": -1}``, and where they are measured.

Each is measured with everything else fixed. A rate x^e with 0 < e < 1 in T or K is a statement on the worst
instance, whose gap shrinks with T: at each x the worst gap is looked for on runs of its own. All others are
measured at one gap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from verifiable_dp.core import validate
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.validate import Given, InputError, Json, JsonDict
from verifiable_dp.targets.players import Player, Setting

MARGIN = 0.15  # how far an exponent may lie from its claim: room for a factor of sqrt(log T)
GAP = 0.25  # of the instance of rates that are not about the worst one, in units of the range
LARGEST_GAP = 0.5
_POINTS = 10
_SPAN = {"T": 32, "K": 8}  # largest over smallest value
_LEAST = 8  # rounds an arm, at the least horizon
_WORDS = {"sqrt": 0.5, "linear": 1.0}
_ACCEPTED = (
    'an exponent, "log", "sqrt", "linear" or, with contexts over T, "sublinear", or one of these with a '
    "margin, such as (0.5, 0.1)"
)


@dataclass(frozen=True)
class Rate:
    """One claimed rate and the values at which it is measured.

    Attributes
    ----------
    over
        ``T``, ``K``, ``gap`` or a parameter of the algorithm.
    exponent, log_power
        The claim x^exponent (log x)^log_power.
    margin
        How far the fitted exponent may lie from it.
    values
        Of x, in increasing order.
    worst
        Whether the worst gap is looked for at each x.
    """

    over: str
    exponent: float
    log_power: float
    margin: float
    values: tuple[float, ...]
    worst: bool

    @property
    def name(self) -> str:
        """Of its check."""
        return f"rate in {self.over}"

    @property
    def formula(self) -> str:
        """In plain notation."""
        return f"log {self.over}" if self.log_power else f"{self.over}^{self.exponent:g}"

    def as_dict(self) -> JsonDict:
        """Plain values."""
        return {**asdict(self), "values": list(self.values)}

    @classmethod
    def read(cls, plain: Json) -> Rate:
        """From plain values."""
        return cls(**{**plain, "values": tuple(plain["values"])})

    def at(self, x: float, setting: Setting, gap: float) -> tuple[Setting, float]:
        """Setting and gap where this rate's quantity is x."""
        arms, horizon, parameters = setting.n_arms, setting.horizon, dict(setting.parameters)
        if self.over == "gap":
            gap = x
        elif self.over == "T":
            horizon = int(x)
        elif self.over == "K":
            arms = int(x)
        else:
            parameters[self.over] = x
        return Setting(arms, horizon, parameters), gap


def even(n_arms: int, gap: float, bounds: tuple[float, float], name: str = "") -> TwoPoint:
    """One arm better than all others by `gap` (in units of the range), about the middle of the range."""
    low, high = bounds
    means = [0.5 + gap / 2] + [0.5 - gap / 2] * (n_arms - 1)
    return TwoPoint(tuple(low + (high - low) * mean for mean in means), low, high, name)


def gaps(setting: Setting) -> tuple[float, ...]:
    """Gaps among which the worst one is looked for: from sqrt(K / T) to 1/2 by factors of 2."""
    least = math.sqrt(setting.n_arms / setting.horizon)
    doublings = max(0, math.ceil(math.log2(LARGEST_GAP / least)))
    return tuple(min(LARGEST_GAP, least * 2**i) for i in range(doublings + 1))


def parsed(
    scaling: Given,
    player: Player,
    setting: Setting,
    *,
    gap: float | None,
    values: Mapping[str, Sequence[float]] | None,
    crowd: bool = False,
) -> list[Rate]:
    """The rates of a `scaling` argument; for a `crowd` with contexts no worst gap is looked for.

    Raises
    ------
    InputError
        If a quantity, an exponent or a value is unusable.
    """
    if not isinstance(scaling, Mapping) or not scaling:
        raise InputError('scaling must be a mapping such as {"T": 0.5}, got ' + repr(scaling))
    for name in values or {}:
        if name not in scaling:
            raise InputError(
                f"values: its keys must be among those of scaling ({', '.join(map(str, scaling))}), got "
                f"{name}"
            )
    for over in ("K", "gap") if crowd else ():
        if over in scaling or (over == "gap" and gap is not None):
            raise InputError(
                f"scaling: with contexts, the population determines {over}, so {over} cannot vary"
            )
    found = [_rate(str(over), claim, player, setting, gap, values or {}) for over, claim in scaling.items()]
    return [replace(rate, worst=False) for rate in found] if crowd else found


def _rate(
    over: str,
    claim: Given,
    player: Player,
    setting: Setting,
    gap: float | None,
    values: Mapping[str, Sequence[float]],
) -> Rate:
    if over not in ("T", "K", "gap") and not player.takes(over):
        known = ", ".join(("T", "K", "gap", *player.names))
        raise InputError(f"scaling: its keys must be among {known}, got {over!r}")
    if over == "gap" and gap is not None:
        raise InputError("`gap` must be left out if `scaling` is over the gap")
    exponent, log_power, margin = claim_of(over, claim)
    worst = gap is None and over in ("T", "K") and 0 < exponent < 1
    chosen = values[over] if over in values else _grid(over, player, setting)
    return Rate(over, exponent, log_power, margin, _checked(over, chosen, setting, log_power), worst)


def claim_of(over: str, claim: Given) -> tuple[float, float, float]:
    """Exponent, power of the logarithm, margin.

    Raises
    ------
    InputError
        If a claim is none of those accepted.
    """
    margin = MARGIN
    if isinstance(claim, tuple | list):
        if len(claim) != 2:
            raise InputError(f"scaling: {over} must be {_ACCEPTED}, got {claim!r}")
        claim, margin = claim[0], validate.positive(f"scaling: margin of {over}", claim[1])
    if claim == "log":
        if over not in ("T", "K"):
            raise InputError(f'scaling: {over} must be an exponent; "log" works only with T and K')
        return 0.0, 1.0, margin
    if claim == "sublinear" and over == "T":
        return 1.0 - 2 * margin, 0.0, margin  # an exponent of 1 is a margin away from what is allowed
    claim = _WORDS.get(claim, claim) if isinstance(claim, str) else claim
    if isinstance(claim, bool | str) or not isinstance(claim, int | float | np.number):
        raise InputError(f"scaling: {over} must be {_ACCEPTED}, got {claim!r}")
    exponent = float(claim)
    if not (math.isfinite(exponent) and abs(exponent) <= 10):
        raise InputError(f"scaling: {over} must be an exponent in [-10, 10], got {claim!r}")
    return exponent, 0.0, margin


def shortest(n_arms: int) -> int:
    """The shortest horizon up to which a rate over T is measured."""
    return _LEAST * _SPAN["T"] * n_arms


def horizons(horizon: int, span: int) -> tuple[float, ...]:
    """Where a rate over T is measured, from horizon / span to the horizon."""
    return tuple(np.unique(np.geomspace(horizon / span, horizon, _POINTS).round()).tolist())


def _grid(over: str, player: Player, setting: Setting) -> npt.ArrayLike:
    """Default values of a quantity."""
    if over == "T":
        needed = shortest(setting.n_arms)
        if setting.horizon < needed:
            raise InputError(
                f"horizon must be at least {needed} for scaling over T with {setting.n_arms} arms (or give "
                f"values), got {setting.horizon}"
            )
        return horizons(setting.horizon, _SPAN["T"])
    if over == "K":
        fewest = max(setting.n_arms, 8)  # with few arms K - 1 is far from K
        return np.unique(np.geomspace(fewest, _SPAN["K"] * fewest, _POINTS).round())
    if over == "gap":
        # Below, the horizon is too short for gaps to be told apart.
        least = max(LARGEST_GAP / 8, 12 * math.sqrt(setting.n_arms / setting.horizon))
        if 3 * least > LARGEST_GAP:
            needed = math.ceil(setting.n_arms * (36 / LARGEST_GAP) ** 2)
            raise InputError(
                f"horizon must be at least {needed} for scaling over the gap with {setting.n_arms} arms "
                f"(or give values), got {setting.horizon}"
            )
        return np.geomspace(least, LARGEST_GAP, _POINTS)
    base = setting.parameters.get(over, player.default(over))
    if isinstance(base, bool) or not isinstance(base, int | float | np.number) or not base > 0:
        raise InputError(f"values: {over} must be given, because its default is not above 0")
    return np.geomspace(base / 8, base, _POINTS)


def _checked(over: str, values: Given, setting: Setting, log_power: float) -> tuple[float, ...]:
    """At least 4 different values, in increasing order, in the range of the quantity."""
    array = validate.rewards(f"values: {over}", values, (-np.inf, np.inf), ndim=1)
    if len(np.unique(array)) < 4:
        raise InputError(f"values: {over} must contain at least 4 different numbers, got {array.tolist()}")
    least = {"T": max(setting.n_arms, 2), "K": 2}.get(over, 0.0)
    if array.min() < least or array.min() <= 0:
        raise InputError(f"values: {over} must be at least {least:g} and above 0, got {array.min():g}")
    if over in ("T", "K") and not np.array_equal(array, np.floor(array)):
        raise InputError(f"values: {over} must be whole numbers, got {array.tolist()}")
    if over == "K" and array.max() > setting.horizon:
        raise InputError(f"values: K must be at most horizon = {setting.horizon}, got {array.max():g}")
    if over == "gap" and array.max() > 1:
        raise InputError(
            f"values: gap must lie in (0, 1], in units of the range of rewards, got {array.max():g}"
        )
    return tuple(np.unique(array).tolist())
