"""Thirty bandits in thirty styles under fixed plans: the leaks are refuted, the right ones never accused.

Plans and seeds are fixed, so that nothing here depends on the clock. Level of each audit: 1e-6. The leaks are
the negative control of the right ones, which are audited by the same rungs.
"""

import numpy as np
import pytest

from tests.asking import audited
from tests.records import read_all
from tests.user_code import bandits, seeded, styles
from verifiable_dp.auditing import bandits as rungs_of_bandits
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.record import conclude

HORIZON = 60
RUNS, MANY = 60_000, 250_000
SMALL = 6000  # of null audits: the level of 1e-6 holds at any size
# Leaks that take more than `RUNS`.
DEAR = {styles.half_noise, styles.sees_all_arms, styles.in_place_sums}
HALVES = np.column_stack([np.full(HORIZON, 0.5), np.zeros(HORIZON)])
# The neighbours that show what the black box does not reach: of the arm without noise, and of fractions.
GIVEN = {
    styles.noise_on_one_arm: TablePair(np.ones((HORIZON, 3)), 2, 2, 0.0, (0.0, 1.0)),
    styles.rounds_its_noise: TablePair(HALVES, 0, 0, 1.0, (0.0, 1.0)),
}


def audit(function, n_arms=2, pairs=None, runs=RUNS):
    return audited(
        function,
        name=function.__name__,
        epsilon=styles.EPSILON,
        n_arms=n_arms,
        horizon=HORIZON,
        pairs=pairs,
        runs=runs,
        sequential=True,
        seed=0,
    )


def verdict(draft):
    return conclude.privacy(read_all(draft["checks"]))


def each(functions, by_day):
    """Those that are not among `by_day` are slow."""
    given = [pytest.param(f, marks=[] if f in by_day else pytest.mark.slow) for f in functions]
    return pytest.mark.parametrize("function", given, ids=lambda f: f.__name__)


# A class, coins that are answers, whole noise, no data at all; more of them are in test_nulls_of_users.py.
RIGHT_BY_DAY = {styles.elimination_as_a_class, styles.randomised_response}
RIGHT_BY_DAY |= {styles.with_two_sided_geometric, styles.ignores_its_rewards}
# A draw that is shared, an arm without noise, noise that hides too little, a seed that tells; without any
# randomness and with raw ties in e2e/test_tracing.py.
LEAKS_BY_DAY = {styles.one_draw_for_all, styles.noise_on_one_arm, styles.rounds_its_noise}
LEAKS_BY_DAY |= {styles.means_with_too_little, styles.seeds_from_its_data}


@each(styles.RIGHT, RIGHT_BY_DAY)
def test_what_is_right_is_never_accused(function, monkeypatch):
    # Power is dear and cannot accuse.
    monkeypatch.setattr(function, "scalable", False, raising=False)
    draft = audit(function, runs=SMALL)
    assert draft["checks"][0]["kind"] == "tracing"
    assert len(draft["checks"]) >= 3
    assert {check["result"]["verdict"] for check in draft["checks"]} == {"not_refuted"}
    assert verdict(draft) != "refuted"


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [styles.commit, styles.elimination_as_a_class, styles.vectors_and_masks, styles.local_reports],
)
def test_what_is_right_is_not_refuted_and_bounded_by_its_claim(function):
    draft = audit(function, runs=SMALL)
    assert verdict(draft) != "refuted"
    assert conclude.bounded(draft["checks"])
    assert conclude.epsilon_upper(draft["checks"])["epsilon"] == pytest.approx(styles.EPSILON)


@pytest.mark.slow
@pytest.mark.usefixtures("unbounded")
@pytest.mark.parametrize("function", [styles.commit, styles.elimination_as_a_class, styles.local_reports])
def test_without_a_bound_what_is_right_is_not_refuted_and_the_power_is_stated(function):
    draft = audit(function)
    assert verdict(draft) == "not_refuted"
    assert draft["power"]["smallest_epsilon"] > styles.EPSILON
    assert float(conclude.epsilon_lower(read_all(draft["checks"]))) <= styles.EPSILON


@each(styles.LEAKS, LEAKS_BY_DAY)
def test_every_leak_is_refuted(function):
    given = GIVEN.get(function)
    draft = audit(
        function,
        n_arms=given.left.shape[1] if given else 2,
        pairs=[given] if given else None,
        runs=MANY if function in DEAR else RUNS,
    )
    assert verdict(draft) == "refuted"
    assert not draft["checks"][0]["result"]["holds"]
    assert draft["counterexamples"]


@pytest.mark.slow
@pytest.mark.parametrize("function", GIVEN, ids=lambda f: f.__name__)
def test_named_lines_bring_the_neighbours_that_show_them(function, monkeypatch):
    """They are among the first that are tried; without tracing, the control, they are not."""
    pair, first = GIVEN[function], 6
    draft = audit(function, n_arms=pair.left.shape[1])
    assert verdict(draft) == "refuted"
    assert pair.describe() in [each["words"] for each in draft["pairs"][:first]]
    monkeypatch.setattr(function, "scalable", False, raising=False)
    monkeypatch.setattr(rungs_of_bandits.traced, "trace", lambda *a, **k: None)
    draft = audit(function, n_arms=pair.left.shape[1], runs=SMALL)
    assert pair.describe() not in [each["words"] for each in draft["pairs"][:first]]


def test_two_arms_of_which_one_has_no_noise_keep_the_claim(monkeypatch):
    """One noisy sum keeps a comparison private: an actual leak takes the third arm, see `GIVEN`."""
    monkeypatch.setattr(styles.noise_on_one_arm, "scalable", False, raising=False)
    table = np.ones((HORIZON, 2))
    draft = audit(styles.noise_on_one_arm, pairs=[TablePair(table, 1, 1, 0.0, (0.0, 1.0))], runs=SMALL)
    assert verdict(draft) == "inconclusive"
    assert conclude.conclusion(read_all(draft["checks"]))[1] == "lead"


# A user's bandits under fixed plans: what is broken is refuted, what is right is not, whatever the machine.
#
# Plans and seeds are fixed, so that nothing here depends on the clock. Level of each audit: 1e-6.


RUNS_IN_ALL = 80_000
EPOCH = 1200  # rounds with one epoch of `bandits.successive_elimination`, as 3000 have


def audited_with(function, horizon, runs=RUNS_IN_ALL, seed=0, workers=1):
    return audited(
        function,
        name=function.__name__,
        epsilon=bandits.EPSILON,
        n_arms=2,
        horizon=horizon,
        runs=runs,
        seed=seed,
        workers=workers,
    )


def verdict_of(draft):
    return conclude.privacy(read_all(draft["checks"]))


@pytest.mark.parametrize(
    ("name", "horizon", "runs"),
    [
        pytest.param("shared_noise", 3000, 12_000, marks=pytest.mark.slow),  # by day as `play_many`, below
        pytest.param("half_noise", 3000, RUNS_IN_ALL, marks=pytest.mark.slow),
        pytest.param("no_forgetting", 7200, 120_000, marks=pytest.mark.slow),
    ],
)
def test_broken_code_is_refuted(name, horizon, runs):
    draft = audited_with(getattr(bandits, name), horizon, runs, workers=2)
    assert verdict_of(draft) == "refuted"
    assert draft["counterexamples"][0]["pair"]["type"] == "table"


@pytest.mark.slow
def test_right_code_is_not_refuted_and_bounded_by_its_claim():
    draft = audited_with(bandits.dp_se, 3000, workers=2)
    assert verdict_of(draft) == "not_refuted", draft["target"]["note"]
    assert conclude.epsilon_upper(draft["checks"])["epsilon"] == pytest.approx(bandits.EPSILON)
    assert conclude.epsilon_lower(draft["checks"]) <= bandits.EPSILON


@pytest.mark.slow
@pytest.mark.usefixtures("unbounded")
def test_without_a_bound_right_code_is_not_refuted_and_the_power_is_stated():
    draft = audited_with(bandits.dp_se, 3000, workers=2)
    assert verdict_of(draft) == "not_refuted", draft["target"]["note"]
    assert draft["power"]["smallest_epsilon"] <= 4
    assert conclude.epsilon_lower(read_all(draft["checks"])) <= bandits.EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_right_code_is_never_accused(seed):
    """Six null audits with other seeds, at a fortieth of the runs and a level of 1e-6 each.

    By day: `test_accusations.py`, where half the claim is refuted that these few runs do not refute.
    """
    assert verdict_of(audited_with(bandits.dp_se, 3000, 4000, seed=seed)) != "refuted"


def test_play_many_is_audited_like_play():
    leak = lambda rewards, n_runs, rng: bandits.np.stack(  # noqa: E731 - a callable without a name
        [bandits.shared_noise(rewards, rng) for _ in range(n_runs)]
    )
    assert verdict_of(audited_with(leak, EPOCH, 400)) == "refuted"


@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_counts_do_not_depend_on_the_workers(workers):
    one, more = (audited_with(bandits.half_noise, EPOCH, 400, workers=w) for w in (1, workers))
    assert one["checks"] == more["checks"]
    assert one["power"] == more["power"]
    plan = Plan(500, 2000, 6000)
    left, right = (
        audited(bandits.laplace, name="laplace", epsilon=1.0, plan=plan, workers=w) for w in (1, workers)
    )
    assert left["checks"] == right["checks"]


SEEDED, SMALL_PLAN = 8000, 1600
ALIKE = "dividing the noise by 6 changed nothing in 128 runs, so a larger budget will not help"


def audit_class(name, runs=SEEDED):
    return audited(getattr(seeded, name), name=name, epsilon=1.0, n_arms=2, horizon=24, seed=0, runs=runs)


@pytest.mark.parametrize("name", ["Committing", pytest.param("ByName", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("unbounded")
def test_power_reaches_generators_that_are_made_of_the_seed(name):
    draft = audit_class(name)
    assert verdict_of(draft) == "not_refuted"
    assert draft["power"]["smallest_epsilon"] <= 6
    assert draft["unbounded"]["what"] == "none"
    assert draft["target"]["note"] == ""  # nothing on power


@pytest.mark.parametrize(
    ("name", "runs", "why"),
    [
        ("OutOfReach", SMALL_PLAN, ALIKE),
        pytest.param("Unseeded", SMALL_PLAN, ALIKE, marks=pytest.mark.slow),  # out of reach, too
        ("Committing", SMALL_PLAN, "at this budget; to accept an undecided audit"),
    ],
)
@pytest.mark.usefixtures("unbounded")
def test_without_power_the_note_says_why(name, runs, why):
    """The controls: noise out of reach, or too few runs."""
    draft = audit_class(name, runs)
    assert verdict_of(draft) != "refuted"
    note = draft["target"]["note"]
    assert "we could not measure power: " in note
    assert why in note
    assert "expect=None in pytest" in note
