"""Bounds of every path: which programs have them, and what of it another look would miss.

Broken variants, each seen to fail here: a chooser to which nothing is open; one run in place of two; leaves
that are not looked at in all ways.
"""

import numpy as np
import pytest

import verifiable_dp as vdp
from tests.user_code import leaves as programs
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.evidence.symbolic import leaves, paths
from verifiable_dp.evidence.symbolic.choosers import Chooser, Deciding


def explored(program):
    return paths.explore(paths.Program(program, (12, 2), (0.0, 1.0)), 2, most=6)


@pytest.mark.parametrize(("program", "number"), programs.ALL)
def test_a_few_decisions_have_as_many_paths(program, number):
    found = explored(program)
    assert found.every
    numbers = [path.number for path in found.paths if path.number >= leaves._FIRST]
    assert len(numbers) == len({*numbers}) == number
    made = found.bound()
    assert made.scope == "every path"
    assert made.epsilon == pytest.approx(1.0)
    assert Taken.OTHER_PATHS not in {premise.id for premise in made.premises}


@pytest.mark.parametrize("program", programs.MORE)
def test_other_programs_are_bounded_on_tested_paths_at_most(program):
    found = explored(program)
    assert not found.every
    assert found.bound().scope == "n paths"
    assert Taken.OTHER_PATHS in {premise.id for premise in found.bound().premises}


def test_the_outputs_of_all_paths_are_all_outputs():
    found = explored(programs.commit_twice)
    last = [int(path.output[-1]) for path in found.paths if path.number >= leaves._FIRST]
    assert sorted(last) == [0, 0, 1]


def test_a_second_run_notices_what_no_chooser_was_asked_of(monkeypatch):
    """Where a number of many were taken for nothing open."""
    monkeypatch.setattr(Deciding, "level", Chooser.level)
    assert not explored(programs.wider_by_chance).every
    # Without the second run it would be taken for the only path.
    monkeypatch.setattr(leaves, "sums", lambda costs: {})
    assert explored(programs.wider_by_chance).every


def test_a_path_that_costs_more_than_was_seen_is_not_hidden(monkeypatch):
    found = explored(programs.commit)
    dear, cheap = found.paths[-1:], [paths.Path(1, {})]
    assert leaves.within(dear, found.paths)
    assert not leaves.within(dear, cheap)
    assert leaves.within(cheap, dear)


def test_too_many_paths_are_not_all_run():
    made = []

    def run(number, chooser):
        made.append(number)
        for _ in range(leaves._DEEPEST):
            chooser.winner(0, range(9))
        return paths.Path(number, {})

    assert leaves.leaves(run, 2) is None
    assert len(made) <= 2


def test_a_path_without_a_bound_ends_it():
    def run(number, chooser):
        words = "raw" if chooser.answer(True) else ""
        return paths.Path(number, {}, paths.Failure(words))

    assert leaves.leaves(run, 2) is None


def test_the_scope_reaches_the_record():
    report = vdp.audit(programs.commit, epsilon=1.0, n_arms=2, horizon=12, budget="smoke", in_process=True)
    assert report.verdict == "not_refuted"
    assert report.record["epsilon_upper"]["scope"] == "every path"
    assert "on every path" in report.summary()
    assert np.isclose(report.record["epsilon_upper"]["epsilon"], 1.0)
