"""Where a claimed bound is nearest to being broken: instances and epsilons among which pilot runs choose.

On the usual instances a bound without its 1/epsilon may hold, as may that of a rule that never leaves the
first arm. Candidates have the best arm last, gaps from small to large and, where the bound takes epsilon,
epsilons down to a small one. The pilots share no run with the test, so that its level is as stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from verifiable_dp.auditing.bounds import GivenBound
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.validate import InputError, JsonValue
from verifiable_dp.targets.players import Player, Setting
from verifiable_dp.targets.roles import EPSILON

PILOTS = 4  # runs of each candidate
NEAR, MORE = 0.5, 4  # of a bound that pilots come so near, so many times as many runs are held against it
_GAPS = (0.1, 0.3, 0.6, 0.9)  # in units of the range
_EPSILONS = tuple(4.0**-i for i in range(5))  # times the one given


@dataclass(frozen=True)
class SearchPoint:
    """Where a bound may be held against runs.

    Attributes
    ----------
    setting, instance
        What is played, and on what.
    limit
        The bound there.
    moved
        Whether its epsilon is another than the one given.
    """

    setting: Setting
    instance: TwoPoint
    limit: float
    moved: bool = False


def points(
    player: Player, setting: Setting, bound: GivenBound, limits: tuple[float, float]
) -> Iterator[SearchPoint]:
    """Candidates at which the bound lies below the largest possible regret."""
    if not callable(bound.value):
        return
    name, given = _epsilon(player, setting)
    name = name if name in bound.takes else ""
    varied = bool(name) and isinstance(given, int | float) and not isinstance(given, bool) and given > 0
    for factor in _EPSILONS if varied else (1.0,):
        at, words = setting, ""
        if varied and factor < 1:
            epsilon = float(given or 0) * factor
            at = replace(setting, parameters={**setting.parameters, name: epsilon})
            words = f", {name} {epsilon:g}"
        for gap in _GAPS:
            instance = _last_best(setting.n_arms, gap, limits, words)
            try:
                limit = bound.at(instance, player, at)
            except InputError:
                if factor == 1:
                    raise
                continue  # not defined there
            if limit < setting.horizon * float(instance.gaps.max()):
                yield SearchPoint(at, instance, limit, factor < 1)


def notes(player: Player, setting: Setting, bound: GivenBound | None) -> list[str]:
    """That a bound was held at one epsilon only, where the code takes epsilon and the bound does not."""
    name, given = _epsilon(player, setting)
    if not name or bound is None or name in bound.takes:
        return []
    return [f"the bound has no parameter {name}, so we tested it only at {name} = {given}"]


def _epsilon(player: Player, setting: Setting) -> tuple[str, JsonValue]:
    """The parameter that is epsilon, and its value; an empty name if there is none."""
    name = next((name for name in EPSILON if name in setting.parameters or name in player.names), "")
    return name, setting.parameters.get(name, player.default(name)) if name else None


def _last_best(n_arms: int, gap: float, limits: tuple[float, float], words: str) -> TwoPoint:
    """One arm better than all others, and not the one that is pulled first."""
    low, high = limits
    means = [0.5 - gap / 2] * (n_arms - 1) + [0.5 + gap / 2]
    name = f"last arm better by {gap:g}{words}"
    return TwoPoint(tuple(low + (high - low) * mean for mean in means), low, high, name)
