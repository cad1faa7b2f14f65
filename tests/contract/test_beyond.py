"""Every symbol of a claimed O(...) has an axis, and each of five distortions of pulls is contradicted.

What was played is read from the committed studies; one law is played here.
"""

import json
import math
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.contract.test_rates import outcome, rates, verdict
from verifiable_dp.auditors.studies import beyond
from verifiable_dp.auditors.studies._rates import uniform
from verifiable_dp.registry import entries as catalogue
from verifiable_dp.registry.mutants import result
from verifiable_dp.registry.study import play

STUDIES = Path(__file__).parents[2] / "reports" / "studies"
# Held at points only, before this study; their claims have no O(...).
NAMED = {"ucb1", "adap-ucb", "adap-klucb", "dp-se-doubling"}
SYMBOL = re.compile(r"d_epsilon|sum_a|epsilon|Delta|delta|alpha|beta|gamma|rho|log|sqrt|max|mu|[TKDduvk]")
IMPLIED = {"d_epsilon": ("epsilon", "Delta"), "sum_a": ("K",), "mu": ("Delta",)}
NO_SYMBOL = {"log", "sqrt", "max"}


def budget_of(rule):
    return getattr(rule, "epsilon", getattr(rule, "rho", 1.0))


def distortions(cell, plan):
    """Factors on the pulls of suboptimal arms, by name.

    Epsilon counts in units of the largest of the plan, or of 1; K in units of its least one, or of 5.
    """
    rule, rules = cell.algorithm, [other.algorithm for other in plan.values()]
    budget = budget_of(rule) / max(1.0, *map(budget_of, rules))
    return {
        "log T": math.log(rule.horizon),
        "T^.1": rule.horizon**0.1,
        "1/sqrt(epsilon)": budget**-0.5,
        "K/5 passes": rule.n_arms / min(5, *(other.n_arms for other in rules)),
        "3 passes": 3.0,
    }


DISTORTIONS = ("log T", "T^.1", "1/sqrt(epsilon)", "K/5 passes", "3 passes")


@cache
def laws():
    """All rates of all studies, by study and name."""
    return {**rates(), **{f"S5 {rate.name}": rate for rate in beyond.rates(beyond.RUNS)}}


def algorithm_of(rate):
    return next(iter(rate.plan.values())).algorithm


def of(name):
    return {key: rate for key, rate in laws().items() if algorithm_of(rate).name == name}


def claimed(text):
    """Symbols of every O(...) of a statement."""
    found = set()
    for start in re.finditer(r"O\(", text):
        depth, end = 1, start.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        for token in SYMBOL.findall(text[start.end() : end]):
            found |= set(IMPLIED.get(token, (token,)))
    return found - NO_SYMBOL


def measured(rate):
    """Symbols over which a rate is fitted, or that its name fixes."""
    words = rate.axis.replace("gap", "Delta")
    found = set(SYMBOL.findall(words)) | set(re.findall(r"-([kv])=", rate.name))
    return found | ({rate.name.rsplit("-", 1)[1]} if algorithm_of(rate).name in beyond.LAWS else set())


def claims():
    for name in catalogue.names():
        for claim in catalogue.auditor(name).claims:
            if claim.about == "regret" and "O(" in claim.statement:
                yield name, claim


CLAIMED = {f"{name} {claim.name}": (name, claim) for name, claim in claims()}
ALGORITHMS = sorted({name for name, _ in CLAIMED.values()} | NAMED)


@cache
def record(study):
    return json.loads((STUDIES / study / "study.json").read_text("utf-8"))["cells"]


def spread(mean, sd, runs):
    """So many values with that mean and that deviation."""
    steps = np.arange(runs) - (runs - 1) / 2
    return mean + sd * steps / steps.std(ddof=1)


def times(key, rate, factor):
    """The committed runs of a rate times factor(x, cell), but no more than T pulls of suboptimal arms."""
    found = {}
    for name, x in rate.names.items():
        cell, kept = rate.plan[name], record(key.split()[0])[name]
        most = cell.algorithm.horizon * cell.environment.gaps.max()
        values = factor(x, cell) * spread(kept["mean"], kept["sd"], kept["runs"])
        found[name] = outcome(np.minimum(values, most))
    return found


def played(key, rate, distortion=None):
    """The committed runs of a rate, with pulls of suboptimal arms multiplied."""
    return times(key, rate, lambda x, cell: distortions(cell, rate.plan)[distortion] if distortion else 1.0)


def turned(key, rate, factor):
    """Checks of the committed runs times a factor; T is no limit of slope and growth, which are of a part."""
    found = times(key, rate, factor)
    most = max(factor(x, rate.plan[name]) for name, x in rate.names.items())
    part = times(key, rate, lambda x, cell: factor(x, cell) / (4 * most))
    return [rate.slope(part, rate.exponent), *rate.levels(found), *rate.grown(part)]


def contradicted(checks):
    return "contradicted" in [check.verdict for check in checks]


# ---------------------------------------------------------------- symbols


def test_symbols_are_read():
    assert claimed("is O(sum_a log(KT)/Delta_a) or O(sqrt(T d log(K T))).") == {"K", "T", "Delta", "d"}
    assert claimed("O(sum_a Delta_a log T/d_epsilon(mu_a, mu*))") == {"K", "T", "epsilon", "Delta"}
    assert claimed("O(K sqrt(log(1/delta)) log T/epsilon), whatever u is") == {"K", "T", "delta", "epsilon"}
    assert claimed("at most 3 log T") == set()


@pytest.mark.parametrize("name", CLAIMED)
def test_every_symbol_of_a_claimed_rate_has_an_axis(name):
    algorithm, claim = CLAIMED[name]
    held = set().union(*(measured(rate) for rate in of(algorithm).values()))
    assert claimed(claim.statement)
    assert claimed(claim.statement) <= held


def test_a_symbol_without_an_axis_is_missed():
    held = set().union(*(measured(rate) for rate in of("ucb1").values()))
    assert not claimed("O(sum_a log T/(epsilon Delta_a))") <= held


# ---------------------------------------------------------------- distortions


@pytest.mark.parametrize("distortion", DISTORTIONS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_distortion_is_contradicted(name, distortion):
    """By at least one check of the algorithm; what has no budget has no such factor."""
    found = of(name)
    if distortion == "1/sqrt(epsilon)" and not any(
        hasattr(algorithm_of(rate), budget) for rate in found.values() for budget in ("epsilon", "rho")
    ):
        assert catalogue.auditor(name).model == "none"
        return
    assert any(contradicted(rate.checks(played(key, rate, distortion))) for key, rate in found.items())


@pytest.mark.parametrize("key", laws())
def test_what_was_played_is_not_contradicted(key):
    rate = laws()[key]
    assert not contradicted(rate.checks(played(key, rate)))


@pytest.mark.parametrize("power", [1, -1])
@pytest.mark.parametrize("key", laws())
def test_a_whole_power_more_or_less_is_contradicted(key, power):
    """About the middle of the range, so that what is wrong is the form alone: by the slope, or at an end."""
    rate = laws()[key]
    middle = math.sqrt(min(rate.cells) * max(rate.cells))
    assert contradicted(turned(key, rate, lambda x, cell: (x / middle) ** power))


def over_t(rate):
    horizons = {cell.algorithm.horizon for cell in rate.plan.values()}
    return len(horizons) > 3 and "T" in re.split(r"[- ]", rate.name)


@pytest.mark.parametrize("key", [key for key, rate in laws().items() if over_t(rate)])
def test_a_further_factor_log_is_contradicted(key):
    """It is 1 at the first horizon."""
    rate = laws()[key]
    first = math.log(min(cell.algorithm.horizon for cell in rate.plan.values()))
    assert contradicted(turned(key, rate, lambda x, cell: math.log(cell.algorithm.horizon) / first))


@pytest.mark.parametrize("key", [key for key in laws() if not key.startswith("S3")])
def test_levels_are_near(key):
    """A multiple of what was played is above the level at one end of the range, and so is uniform play.

    Three times where levels are 1.5 times the path of means; eight times the bounds of S4. Under
    contamination, as in S3, regret is a large share of all that T rounds can cost.
    """
    rate, far = laws()[key], 8 if key.startswith("S4") else 3
    nothing = {name: outcome(np.full(4, uniform(cell))) for name, cell in rate.plan.items()}
    for bad in (times(key, rate, lambda x, cell: far), nothing):
        assert contradicted(rate.levels(bad))


def test_three_passes_of_a_rule_are_contradicted_where_one_is_not():
    """Played here: DP-SE, and DP-SE with three times the epochs."""
    rate = laws()["S5 dp-se-K"]
    kept = {name: play(name, cell, 1) for name, cell in rate.plan.items()}
    assert verdict(rate.checks(kept)) == "consistent"
    thrice = result("pulls", lambda rule, pulls, *at: 3 * pulls)
    slow = {
        name: play(name, replace(cell, algorithm=thrice(cell.algorithm)), 1)
        for name, cell in rate.plan.items()
    }
    assert verdict(rate.checks(slow)) == "contradicted"
