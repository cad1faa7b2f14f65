"""Every rate of the studies: uniform play and a rule that learns eight times more slowly fail it."""

import zlib
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.records import read_all
from verifiable_dp.algorithms import dp_robust_elimination
from verifiable_dp.algorithms._elimination import Elimination
from verifiable_dp.algorithms._linear import PhasedElimination
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_robust_ucb import DPRobustUCB
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.ucb1 import UCB1
from verifiable_dp.auditors.studies import _s2_rates, _s3_rates, _s4_rates, s1, s2, s3, s4
from verifiable_dp.auditors.studies._rates import uniform
from verifiable_dp.core.environments import TwoPoint
from verifiable_dp.core.simulation import simulate
from verifiable_dp.record import conclude
from verifiable_dp.registry.mutants import gap_times, result
from verifiable_dp.registry.study import StudyOutcome

STUDIES = {"S1": s1, "S2": s2, "S3": s3, "S4": s4}
PLAY = 8  # runs


@cache
def rates():
    found = {
        "S1": s1.rates(PLAY),
        "S2": _s2_rates.rates(PLAY, PLAY),
        "S3": _s3_rates.laws(PLAY),
        "S4": _s4_rates.laws(PLAY),
    }
    return {f"{study} {rate.name}": rate for study, group in found.items() for rate in group}


def cheap(rate):
    """Rates of few cells with few actions."""
    return len(rate.plan) <= 12 and max(cell.algorithm.n_arms for cell in rate.plan.values()) <= 65


def timid(cell):
    """The rule with thresholds that are eight times as wide, or rewards an eighth as large beside them."""
    algorithm, place = cell.algorithm, cell.environment
    if isinstance(algorithm, PhasedElimination):
        algorithm = result("width", lambda rule, width, *at: 8 * width)(algorithm)
    elif isinstance(algorithm, DPRobustUCB):
        algorithm = replace(algorithm, constants=8 * algorithm.constants)
    elif isinstance(algorithm, UCB1 | DPUCB):
        place = TwoPoint(tuple(mean / 8 for mean in place.means), place.low / 8, place.high / 8)
    else:
        assert isinstance(algorithm, Elimination)
        algorithm = gap_times(8)(algorithm)
    return replace(cell, algorithm=algorithm, environment=place)


def outcome(regret, pulls=None):
    whole = np.zeros((len(regret), 1)) if pulls is None else pulls
    return StudyOutcome(regret, np.array([1]), regret[:, None], whole, None)


def played(rate, cells, change=lambda cell: cell):
    """Regret in the cells' own units."""
    found = {}
    for name in cells:
        cell, seed = change(rate.plan[name]), zlib.crc32(name.encode())
        done = simulate(cell.algorithm, cell.environment, runs=PLAY, seed=seed, points=2)
        unit = rate.plan[name].environment.gaps.max() / cell.environment.gaps.max()
        found[name] = outcome(unit * done.regret, done.pulls)
    return found


def verdict(checks):
    return conclude.regret(read_all([check.as_dict() for check in checks]))


def ends(rate):
    """Cells at the ends of the range, where the level is held."""
    return [name for x in (min(rate.cells), max(rate.cells)) for name in rate.cells[x]]


@pytest.mark.parametrize("study", STUDIES)
def test_every_rate_of_a_study_is_held_here(study):
    """Those of the plan, but for what is printed and known to be false."""
    stated = {
        statement.name
        for statement in STUDIES[study].plan(0.001).statements
        if statement.name.startswith("rate-") and not statement.name.endswith("-printed")
    }
    assert stated == {f"rate-{rate.name}" for name, rate in rates().items() if name.startswith(study)}
    assert len(stated) >= 5


@pytest.mark.parametrize("name", rates())
def test_uniform_play_fails(name):
    rate = rates()[name]
    nothing = {key: outcome(np.full(4, uniform(cell))) for key, cell in rate.plan.items()}
    assert "contradicted" in [check.verdict for check in rate.levels(nothing)]
    assert verdict(rate.checks(nothing)) == "contradicted"
    # Half of the closed form passes, so that it is not the level alone which is out of reach.
    halves = [check.statistics["bound"] / 2 for check in rate.levels(nothing)]
    for x, half in zip((min(rate.cells), max(rate.cells)), halves, strict=True):
        kept = nothing | {key: outcome(np.full(4, half)) for key in rate.cells[x]}
        assert "consistent" in [check.verdict for check in rate.levels(kept)]


@pytest.mark.parametrize("name", [name for name, rate in rates().items() if cheap(rate)])
def test_a_timid_rule_fails_where_the_rule_passes(name):
    """At the ends of the range; the whole range and the dear rates by night."""
    rate = rates()[name]
    assert {check.verdict for check in rate.levels(played(rate, ends(rate)) | absent(rate))} == {"consistent"}
    slow = rate.levels(played(rate, ends(rate), timid) | absent(rate))
    assert "contradicted" in [check.verdict for check in slow]


def absent(rate):
    """Outcomes of the cells between the ends, which the level does not ask for."""
    return {name: outcome(np.ones(2)) for name in rate.plan if name not in ends(rate)}


@pytest.mark.slow
@pytest.mark.parametrize("name", rates())
def test_the_rule_passes_and_a_timid_one_fails(name):
    """With so few runs how much regret grows may stay open."""
    rate = rates()[name]
    done = played(rate, rate.plan)
    assert verdict([rate.slope(done, rate.exponent), *rate.levels(done)]) == "consistent"
    assert "contradicted" not in [check.verdict for check in rate.grown(done)]
    assert verdict(rate.checks(played(rate, rate.plan, timid))) == "contradicted"


@pytest.mark.parametrize(
    ("kind", "method", "study"),
    [
        (Elimination, "table", "S2"),
        (DPLinear, "width", "S4"),
        (DPLinear, "size", "S4"),
        (dp_robust_elimination, "deviation", "S3"),
    ],
)
def test_no_rule_moves_its_environments_horizons_or_bounds(monkeypatch, kind, method, study):
    """All three are those of a rule whose schedule is another."""

    def fixed():
        found = {key: rate for key, rate in rates().items() if key.startswith(study)}
        return {
            cell: (made.algorithm.horizon, made.environment, rate.bound(made))
            for rate in found.values()
            for cell, made in rate.plan.items()
            if len(rate.plan) < 20
        }

    before = fixed()
    rates.cache_clear()
    own = getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda *given, **named: 3 * own(*given, **named))
    assert fixed() == before
    rates.cache_clear()
