"""Generators that code keeps: what readers know of them, and which of them draw the same.

Each leak has a right twin in `tests/user_code/origins.py`. A source that is followed by its name, or replaced
without regard to others of one state, makes `leak_twins` and `leak_known` look right.
"""

import linecache
import random

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.records import read_all
from tests.user_code import origins as code
from tests.user_code import seeded_process
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.evidence.check import judged
from verifiable_dp.record import conclude
from verifiable_dp.targets import seeds
from verifiable_dp.targets.plays import PlaySampler
from verifiable_dp.targets.randomness import follower_of

HORIZON, ARMS = 20, 2
TABLE = np.full((HORIZON, ARMS), 0.5)
NUMBERS = np.arange(64)
FIXED = ("known", "class", "method", "children", "python", "default", "closure", "first_run")
SHARED = ("twins", "copy", "held")


def followed(play, table=TABLE):
    return PlaySampler(play, False, ARMS, HORIZON, seed=1, followed=True).actions(table, (1,), NUMBERS)


def doubts_about(play):
    follower = follower_of(play)
    follower.start(seeds.origins_of(play))
    followed(play)
    return follower.doubts()


def audit(play, **options):
    return vdp.audit(play, epsilon=1.0, n_arms=ARMS, horizon=HORIZON, runs=800, **options)


@pytest.mark.parametrize("name", FIXED)
def test_a_state_that_every_process_starts_from_is_known(name):
    play = getattr(code, f"leak_{name}")
    found = doubts_about(play)
    assert found
    assert all("starts from the same state in every process" in why for why in found)
    assert len(np.unique(followed(play)[:, -1])) == 2, "runs are those of somebody who does not know it"


@pytest.mark.parametrize("name", ["right", "right_one_stream", "right_first_run"])
def test_a_seed_of_the_system_is_a_secret(name):
    assert doubts_about(getattr(code, name)) == []


@pytest.mark.parametrize(("play", "line"), [(code.leak_known, "KNOWN = "), (code.leak_class, "rng = ")])
def test_the_line_is_named(play, line):
    [why] = doubts_about(play)
    number = int(why.partition("origins.py:")[2].partition(")")[0])
    assert linecache.getline(code.__file__, number).strip().startswith(line)


@pytest.mark.parametrize(("name", "module"), [("numpy", "np.random"), ("python", "random")])
def test_generators_of_the_process_are_known_where_the_file_seeds_them(name, module):
    """Control: the other one is not drawn from, and is not told of."""
    [why] = doubts_about(getattr(seeded_process, f"leak_{name}"))
    assert why.startswith(f"{module} (seeded_process.py:")
    number = int(why.partition(".py:")[2].partition(")")[0])
    assert linecache.getline(seeded_process.__file__, number).startswith(f"{module}.seed(")


@pytest.mark.parametrize("name", SHARED)
def test_generators_of_one_state_draw_the_same_in_every_run(name):
    """Control: two that share their bits draw one after the other."""
    played = followed(getattr(code, f"leak_{name}"))
    assert len(np.unique(played[:, -1])) == 1
    assert len(np.unique(followed(code.right_one_stream)[:, -1])) == 2


def test_they_are_told_apart_by_their_state_at_the_start():
    """Also where one of them has drawn more since; without the start they would be strangers."""
    code.LEFT.random()
    follower_of(code.leak_twins).start(seeds.Origins({}))
    assert len(np.unique(followed(code.leak_twins)[:, -1])) == 2, "as they are, they differ"
    follower_of(code.leak_twins).start(seeds.origins_of(code.leak_twins))
    assert len(np.unique(followed(code.leak_twins)[:, -1])) == 1


def test_one_seed_at_two_places_is_told_of():
    [why] = doubts_about(code.leak_ahead)
    assert "BASE" in why
    assert "same seed" in why


NO_BOUND = [*(getattr(code, f"leak_{name}") for name in (*FIXED, *SHARED, "ahead", "behind"))]
NO_BOUND += [seeded_process.leak_numpy, seeded_process.leak_python]


@pytest.mark.parametrize("play", NO_BOUND, ids=lambda play: play.__name__)
def test_such_draws_have_no_bound(play):
    found, why, _ = traced.bound(play, "code", Inputs(ARMS, HORIZON, (0.0, 1.0)), 0.0)
    assert found is None
    assert why


@pytest.mark.parametrize("play", [code.right, code.right_one_stream], ids=lambda play: play.__name__)
def test_right_ones_have_theirs(play):
    found, why, _ = traced.bound(play, "code", Inputs(ARMS, HORIZON, (0.0, 1.0)), 0.0)
    assert found is not None, why
    assert found.epsilon == pytest.approx(1.0)


# ---------------------------------------------------------------- audits


def test_noise_that_cancels_is_refuted():
    assert audit(code.leak_twins).verdict == "refuted"


def test_a_known_seed_is_no_secret():
    """Neither acquitted nor accused: with a secret seed it would be right."""
    report = audit(code.leak_known)
    assert report.verdict == "inconclusive"
    [check] = [check for check in report.record["checks"] if check["kind"] == "sources"]
    assert "KNOWN (origins.py:" in conclude.lead(read_all(report.record["checks"]))
    assert check["statistics"]["doubts"] == [conclude.lead(read_all(report.record["checks"]))]
    assert report.record["epsilon_upper"] is None


def test_a_right_one_is_acquitted_as_before():
    report = audit(code.right)
    assert report.verdict == "not_refuted"
    assert not any(check["kind"] == "sources" for check in report.record["checks"])


def test_other_results_with_the_generators_as_they_are_are_noticed():
    """Nothing in the states tells that the draws are the same. Control: `test_a_right_one_is_acquitted`."""
    assert doubts_about(code.leak_unseen) == []
    report = audit(code.leak_unseen)
    assert report.verdict != "not_refuted"
    assert report.record["epsilon_upper"] is None
    assert any(
        "with its own generators" in why
        for check in report.record["checks"]
        if check["kind"] == "sources"
        for why in check["statistics"]["doubts"]
    )


def test_without_a_doubt_the_check_decides_nothing():
    assert judged("sources", {"doubts": []}) == {"verdict": "not_refuted"}
    assert judged("sources", {"doubts": ["a"]}) == {"verdict": "inconclusive"}


def test_what_is_drawn_between_batches_is_not_the_codes():
    """Names of files, say. Broken variant: states are noted once, when it is looked what is drawn from."""
    other, play = random.Random(), code.right
    follower = follower_of(play)
    follower.start(seeds.origins_of(play))
    followed(play)
    other.random()
    followed(play)
    assert follower.doubts() == []
    assert all(source is not other for source in follower._own)
