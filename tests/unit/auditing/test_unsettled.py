"""Raw data that decides where replays on neighbours cannot tell what it gives away is a lead."""

import numpy as np
import pytest

from tests.records import read_all
from tests.user_code import seldom, unsettled
from verifiable_dp.auditing import traced
from verifiable_dp.auditing.request import Inputs
from verifiable_dp.evidence.symbolic import bounded_programs, paths
from verifiable_dp.record import conclude


@pytest.mark.parametrize(
    ("play", "leads"),
    [
        (unsettled.leak_of_a_pattern, True),
        (unsettled.leak_of_a_nested_pattern, True),
        # Control: one plain question before the noise, whose answers were all seen, is left to replays.
        (unsettled.right_count, False),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_raw_decision_that_replays_do_not_settle_is_a_lead(play, leads):
    """Three rewards have to meet for the leak: neighbours of plain tables never show it."""
    inputs = Inputs(3, 24)
    bound, why, lead = traced.bound(play, play.__name__, inputs, 0.0)
    assert bound is None
    assert "raw rewards decide a branch" in why.what
    assert (lead is not None) == leads
    # Replays of the right code say nothing against it: what follows is due to the lead alone.
    check, _ = traced.trace(unsettled.right_count, "it", 1.0, inputs, 0, traced.Effort(12, most=12))
    assert conclude.lead(read_all([check.as_dict()])) == ""
    if lead is not None:
        said = conclude.lead(read_all([traced.with_lead(check, lead).as_dict()]))
        assert said == f"we cannot tell whether noise hides what decides at {lead['file']}:{lead['line']}"
        assert conclude.conclusion(read_all([traced.with_lead(check, lead).as_dict()])) == (
            "inconclusive",
            "lead",
        )


def one_question(rewards, rng):
    return [0 if rewards[0, 0] > 0.7 else 1] * len(rewards)


def one_of_two_questions(rewards, rng):
    return [0 if rewards[0, 0] > 0.7 and rewards[1, 0] < 0.3 else 1] * len(rewards)


def one_question_after_another(rewards, rng):
    """Both answers of the first are seen on plain data, of the last one only."""
    arm = 5
    if rewards[0, 0] > 0.7:
        arm -= 1
        if rewards[1, 0] > 0.7:
            arm -= 1
            if rewards[2, 0] < 0.3:
                arm -= 1
                if rewards[3, 0] < 0.3:
                    arm -= 1
    return [arm // 5] * len(rewards)


def one_that_fails_on_some_data(rewards, rng):
    if rewards[0, 0] > 0.7:
        if rewards.sum() == 12.0:
            raise ValueError
        return [0] * len(rewards)
    return [1] * len(rewards)


def none(rewards, rng):
    return [int(rewards[0, 0] + rng.laplace() > 0.7)] * len(rewards)


def another_end(rewards, rng):
    return [int(rewards[0, 0] * 10)] * len(rewards)


@pytest.mark.parametrize(
    ("play", "open_"),
    [
        (one_question, False),
        (one_of_two_questions, True),
        (one_question_after_another, True),
        (one_that_fails_on_some_data, False),  # the audit tells of it where it plays
        (none, False),
        (another_end, False),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_which_raw_decisions_are_open(play, open_):
    program = bounded_programs.Program(play, (6, 2), (0.0, 1.0))
    found = paths.explore(program, 2, most=6)
    assert paths.unsettled(program, found) is open_


@pytest.mark.parametrize("play", seldom.UNSETTLED, ids=lambda f: f.__name__)
def test_what_is_raw_on_a_path_that_was_forced_is_a_lead(play):
    """Runs hardly ever come there: neither replays nor the black box would tell of it."""
    bound, why, lead = traced.bound(play, play.__name__, Inputs(2, 24), 0.0)
    assert bound is None
    assert "raw rewards" in why.what
    assert lead is not None
    assert lead["open"]


def test_what_is_raw_in_every_run_is_left_to_replays():
    def play(rewards, rng):
        return [int(rewards[0, 0] > rng.random() / 2)] * len(rewards)

    bound, _, lead = traced.bound(play, "play", Inputs(2, 24), 0.0)
    assert bound is None
    assert lead is None


@pytest.mark.parametrize(
    ("seeds", "leads"), [(1000, True), (2**31 - 1, True), (2**31, False), (2**40, False)]
)
def test_noise_of_few_seeds_is_a_lead(seeds, leads):
    """It takes as few values as its seed: no sample tells of it. Control: seeds that nobody can try out."""

    def play(rewards, rng):
        noise = np.random.default_rng(int(rng.integers(seeds)))
        return [int(rewards[0, 0] + noise.laplace() > 0.5)] * len(rewards)

    bound, _, lead = traced.bound(play, "play", Inputs(2, 24), 0.0)
    assert (bound is None) == leads
    assert (lead is not None) == leads
    if lead is not None:
        check, _ = traced.trace(
            unsettled.right_count, "it", 1.0, Inputs(3, 24), 0, traced.Effort(12, most=12)
        )
        with_it = read_all([traced.with_lead(check, lead).as_dict()])
        assert conclude.lead(with_it).startswith("noise takes few values")
        assert conclude.conclusion(with_it) == ("inconclusive", "lead")
