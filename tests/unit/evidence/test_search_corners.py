"""The search for worst neighbours reaches what only few pairs show: middle arms, late and inner rewards."""

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.user_code import corners
from verifiable_dp.evidence.blackbox import search, trials
from verifiable_dp.evidence.blackbox.search import PairSearch

ENOUGH = 1.2  # claimed is 1; the standard error of a log ratio is below .06 here


def found(function, n_arms, most=60_000, runs=60):
    """The search after it has run, and its pairs."""
    rng = np.random.default_rng(0)
    finder = PairSearch(
        lambda table, count: function(table, count, rng),
        n_arms,
        corners.HORIZON,
        (0.0, 1.0),
        runs,
        most=most,
    )
    return finder, finder.tuned()


def shown(function, pair, runs=20_000, least=0.03):
    """Largest log ratio of a set of action sequences that has at least this share on one of the tables."""
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 1 << 40, corners.HORIZON)
    seen = [function(table, runs, rng) @ weights for table in pair.worlds()]
    _, codes = np.unique(np.concatenate(seen), return_inverse=True)
    shares = [np.bincount(part, minlength=codes.max() + 1) / runs for part in np.split(codes, 2)]
    best = 0.0
    for p, q in (shares, shares[::-1]):
        order = np.argsort(-(p + 1e-3) / (q + 1e-3))
        above, below = np.cumsum(p[order]), np.cumsum(q[order])
        best = max(best, float(np.log(above / np.maximum(below, 1 / runs))[above >= least].max(initial=0)))
    return best


def worst(function, n_arms):
    return max(shown(function, pair) for pair in found(function, n_arms)[1])


FAST = (corners.level_of_the_second_arm, corners.inside_the_bounds)
SLOW = [function for function in corners.LEAKS if function not in FAST]


@pytest.mark.parametrize("function", [*FAST, *(pytest.param(f, marks=pytest.mark.slow) for f in SLOW)])
def test_pairs_that_show_a_leak_in_a_corner_are_found(function):
    assert worst(function, corners.LEAKS[function]) > ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("function", list(corners.RIGHT))
def test_no_pair_shows_more_than_the_claim_of_a_right_sibling(function):
    assert worst(function, corners.RIGHT[function]) < ENOUGH


def without_middle_arms(monkeypatch):
    outer = search.PairSearch.duels

    def duels(self):
        last = self.n_arms - 1
        return [duel for duel in outer(self) if (duel.favourite, duel.rivals[0]) in ((0, 1), (last, 0))]

    levels, around = PairSearch._of_levels, PairSearch._around
    monkeypatch.setattr(PairSearch, "duels", duels)
    monkeypatch.setattr(
        PairSearch,
        "_of_levels",
        lambda self: [[t for t in trials if t.arm in (0, self.n_arms - 1)] for trials in levels(self)],
    )
    monkeypatch.setattr(
        PairSearch,
        "_around",
        lambda self, *given, **named: [
            trial for trial in around(self, *given, **named) if trial.arm in (0, self.n_arms - 1)
        ],
    )


def without_values_inside(monkeypatch):
    monkeypatch.setattr(search, "_INSIDE", (trials.BOUNDS,))


def without_late_rewards(monkeypatch):
    early = PairSearch._everywhere
    monkeypatch.setattr(
        PairSearch, "_everywhere", lambda *given: [trial for trial in early(*given) if not trial.late]
    )
    around = PairSearch._around
    monkeypatch.setattr(
        PairSearch,
        "_around",
        lambda *given, **named: [trial for trial in around(*given, **named) if not trial.late],
    )
    levels = PairSearch._of_levels
    monkeypatch.setattr(
        PairSearch, "_of_levels", lambda self: [[t for t in trials if not t.late] for trials in levels(self)]
    )


def without_the_other_path(monkeypatch):
    decided = PairSearch._decided
    monkeypatch.setattr(
        PairSearch, "_decided", lambda self, *given: [] if given[-1] else decided(self, *given)
    )


@pytest.mark.parametrize(
    ("less", "function"),
    [
        (without_middle_arms, corners.level_of_the_second_arm),
        (without_values_inside, corners.inside_the_bounds),
        pytest.param(without_late_rewards, corners.one_late_round, marks=pytest.mark.slow),
        pytest.param(without_the_other_path, corners.on_the_other_path, marks=pytest.mark.slow),
    ],
)
def test_a_search_that_leaves_a_corner_out_misses_its_leak(less, function, monkeypatch):
    less(monkeypatch)
    assert worst(function, corners.LEAKS[function]) < ENOUGH


def test_what_was_tried_is_counted():
    finder, pairs = found(corners.committed, 4, most=20_000, runs=20)
    tried = finder.tried
    assert (tried.duels, tried.all_duels, tried.paths) == (13, 13, 26)
    assert 0 < tried.decisions <= 26 * 9
    assert tried.pairs >= len(pairs) == search._KEPT
    assert 0 < tried.inside < tried.pairs
    assert 0 < tried.late < tried.pairs
    assert finder.played <= 1.1 * 20_000
    assert "13 of 13 duels" in tried.describe()


def test_a_search_with_few_runs_says_how_far_it_came():
    tried = found(corners.committed, 4, most=120, runs=20)[0].tried
    assert 0 < tried.duels < tried.all_duels


@pytest.mark.slow
@pytest.mark.parametrize("function", [*corners.LEAKS, *corners.RIGHT])
def test_audits_refute_the_leaks_and_none_of_the_right_ones(function):
    n_arms = {**corners.LEAKS, **corners.RIGHT}[function]
    report = vdp.audit(function, epsilon=1.0, n_arms=n_arms, horizon=corners.HORIZON, runs=8000, seed=0)
    assert (report.verdict == "refuted") == (function in corners.LEAKS)
    tried = report.record["plan"].get("tried")
    assert tried is None or tried["pairs"] > 0
