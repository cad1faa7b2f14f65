"""A user's bandits under fixed plans: what is broken is refuted, what is right is not, whatever the machine.

Plans and seeds are fixed, so that nothing here depends on the clock. Level of each audit: 1e-6.
"""

import pytest

from tests.asking import audited
from tests.records import read_all
from tests.user_code import bandits, seeded
from verifiable_dp.evidence.blackbox.test import Plan
from verifiable_dp.record import conclude

RUNS = 80_000
EPOCH = 1200  # rounds with one epoch of `bandits.successive_elimination`, as 3000 have


def audit(function, horizon, runs=RUNS, seed=0, workers=1):
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


def verdict(draft):
    return conclude.privacy(read_all(draft["checks"]))


@pytest.mark.parametrize(
    ("name", "horizon", "runs"),
    [
        pytest.param("shared_noise", 3000, 12_000, marks=pytest.mark.slow),  # by day as `play_many`, below
        pytest.param("half_noise", 3000, RUNS, marks=pytest.mark.slow),
        pytest.param("no_forgetting", 7200, 120_000, marks=pytest.mark.slow),
    ],
)
def test_broken_code_is_refuted(name, horizon, runs):
    draft = audit(getattr(bandits, name), horizon, runs, workers=2)
    assert verdict(draft) == "refuted"
    assert draft["counterexamples"][0]["pair"]["type"] == "table"


@pytest.mark.slow
def test_right_code_is_not_refuted_and_bounded_by_its_claim():
    draft = audit(bandits.dp_se, 3000, workers=2)
    assert verdict(draft) == "not_refuted", draft["target"]["note"]
    assert conclude.epsilon_upper(draft["checks"])["epsilon"] == pytest.approx(bandits.EPSILON)
    assert conclude.epsilon_lower(draft["checks"]) <= bandits.EPSILON


@pytest.mark.slow
@pytest.mark.usefixtures("unbounded")
def test_without_a_bound_right_code_is_not_refuted_and_the_power_is_stated():
    draft = audit(bandits.dp_se, 3000, workers=2)
    assert verdict(draft) == "not_refuted", draft["target"]["note"]
    assert draft["power"]["smallest_epsilon"] <= 4
    assert conclude.epsilon_lower(read_all(draft["checks"])) <= bandits.EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_right_code_is_never_accused(seed):
    """Six null audits with other seeds, at a fortieth of the runs and a level of 1e-6 each.

    By day: `test_accusations.py`, where half the claim is refuted that these few runs do not refute.
    """
    assert verdict(audit(bandits.dp_se, 3000, 4000, seed=seed)) != "refuted"


def test_play_many_is_audited_like_play():
    leak = lambda rewards, n_runs, rng: bandits.np.stack(  # noqa: E731 - a callable without a name
        [bandits.shared_noise(rewards, rng) for _ in range(n_runs)]
    )
    assert verdict(audit(leak, EPOCH, 400)) == "refuted"


@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_counts_do_not_depend_on_the_workers(workers):
    one, more = (audit(bandits.half_noise, EPOCH, 400, workers=w) for w in (1, workers))
    assert one["checks"] == more["checks"]
    assert one["power"] == more["power"]
    plan = Plan(500, 2000, 6000)
    left, right = (
        audited(bandits.laplace, name="laplace", epsilon=1.0, plan=plan, workers=w) for w in (1, workers)
    )
    assert left["checks"] == right["checks"]


SEEDED, SMALL = 8000, 1600
ALIKE = "dividing the noise by 6 changed nothing in 128 runs, so a larger budget will not help"


def audit_class(name, runs=SEEDED):
    return audited(getattr(seeded, name), name=name, epsilon=1.0, n_arms=2, horizon=24, seed=0, runs=runs)


@pytest.mark.parametrize("name", ["Committing", pytest.param("ByName", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("unbounded")
def test_power_reaches_generators_that_are_made_of_the_seed(name):
    draft = audit_class(name)
    assert verdict(draft) == "not_refuted"
    assert draft["power"]["smallest_epsilon"] <= 6
    assert draft["unbounded"]["what"] == "none"
    assert draft["target"]["note"] == ""  # nothing on power


@pytest.mark.parametrize(
    ("name", "runs", "why"),
    [
        ("OutOfReach", SMALL, ALIKE),
        pytest.param("Unseeded", SMALL, ALIKE, marks=pytest.mark.slow),  # out of reach, too
        ("Committing", SMALL, "at this budget; to accept an undecided audit"),
    ],
)
@pytest.mark.usefixtures("unbounded")
def test_without_power_the_note_says_why(name, runs, why):
    """The controls: noise out of reach, or too few runs."""
    draft = audit_class(name, runs)
    assert verdict(draft) != "refuted"
    note = draft["target"]["note"]
    assert "we could not measure power: " in note
    assert why in note
    assert "expect=None in pytest" in note
