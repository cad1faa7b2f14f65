"""An exception is seen by the adversary: what fails in some runs only is not acquitted.

Broken variants, each of which lets a leak pass: a rung that ends by an error says nothing (`between`), a pair
whose fault does not recur is dropped (`ladder`), a form is dropped that the code takes now and then.
"""

import sys

import numpy as np
import pytest

from tests.user_code import failing
from verifiable_dp.api import audit
from verifiable_dp.auditing import ladder, mechanisms, refusals
from verifiable_dp.core.limits import LateError
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import origins
from verifiable_dp.targets.process import Exec
from verifiable_dp.targets.releases import DataPair, ReleaseSampler

NOW_AND_THEN, HERE_AND_THERE = "some runs fail and others do not", "refuses some data, but accepts other data"


def smoke(function):
    return audit(function, epsilon=1.0, budget="smoke")


@pytest.mark.parametrize(
    ("function", "said"),
    [(failing.now_and_then_between, NOW_AND_THEN), (failing.some_between, HERE_AND_THERE)],
)
def test_what_fails_between_the_bounds_is_not_acquitted(function, said):
    report = smoke(function)
    assert report.verdict == "inconclusive"
    [check] = [one for one in report.record["checks"] if one["name"] == "runs that failed"]
    assert said in check["statistics"]["doubts"][0]
    assert "(/" not in check["statistics"]["doubts"][0]  # nor does a record depend on folders


def test_code_that_takes_no_values_between_the_bounds_is_acquitted_and_the_record_says_so():
    """Control: of code that takes all of them it says nothing."""
    for function, narrow in ((failing.bits_only, True), (failing.never, False)):
        report = smoke(function)
        assert report.verdict == "not_refuted"
        assert (
            any(left["id"] == "refused-values" for left in report.record["not_covered"]) is narrow
            or report.record["epsilon_upper"] is not None
        )
        assert not [one for one in report.record["checks"] if one["kind"] == origins.KIND]


@pytest.mark.parametrize(
    ("function", "doubts", "refused"),
    [
        (failing.now_and_then_of_three, [NOW_AND_THEN], set()),
        (failing.nothing_in_three, [HERE_AND_THERE], {3}),
        (failing.at_least_three, [], {1, 2}),
    ],
)
def test_a_size_is_refused_always_or_it_is_an_output(function, doubts, refused):
    sampler = ReleaseSampler(function, 0)
    five = [DataPair(np.zeros(5), np.r_[1.0, np.zeros(4)])]
    found = ladder.climb(function, sampler, five, (0.0, 1.0), "replace", 0)
    assert [said in doubt for said, doubt in zip(doubts, found.doubts(), strict=True)] == [True] * len(doubts)
    assert found.refused == refused


def test_a_form_that_is_taken_now_and_then_is_not_dropped_unseen():
    """Control: code that never takes a number has none of its faults noted."""
    for function, faults in ((failing.now_and_then_a_number, 1), (failing.at_least_three, 0)):
        noted = []
        mechanisms.data_pairs(function, (0.0, 1.0), None, None, noted)
        assert len(noted) == faults


class Answers:
    """A sampler whose runs end as they are told to."""

    def __init__(self, *errors):
        self.errors, self.asked, self.paths = errors, 0, []

    def values(self, data, path, runs):
        self.asked, self.paths = self.asked + 1, [*self.paths, path]
        error = self.errors[int(runs[0]) % len(self.errors)]
        if error is not None:
            raise error
        return np.zeros((1, 1))


@pytest.mark.parametrize(
    ("errors", "taken", "doubts", "asked"),
    [
        ((None,), True, 0, refusals.TRIES),
        ((InputError("no"),), False, 0, refusals.TRIES),
        ((*([InputError("no")] * 8), None), False, 1, 9),
        ((*([None] * 8), InputError("no")), False, 1, 9),
        ((LateError("late"),), False, 1, 1),  # it would take as long each time
    ],
)
def test_how_data_are_refused(errors, taken, doubts, asked):
    found, answers = refusals.Refusals(), Answers(*errors)
    assert found.ask(answers, 0.5) is taken
    assert (len(found.doubts()), answers.asked) == (doubts, asked)


def test_each_datum_has_draws_of_its_own():
    """Or one draw decides for all. Broken variant: the same draws for each. Control: again, the same."""
    answers = Answers(None)
    for data in (0.25, 0.75, np.array([0.25]), 0.25):
        refusals.Refusals().ask(answers, data, 1)
    first, *others, again = answers.paths
    assert (len({first, *others}), again) == (3, first)


def test_what_nearly_all_runs_refuse_is_not_acquitted():
    """97 of 100, and the others show the value. Broken variant: 32 runs a datum, with the same draws."""
    report = audit(failing.nearly_always_between, epsilon=1.0, budget="smoke")
    assert report.verdict == "inconclusive"


def test_a_failure_that_does_not_recur_is_one():
    pairs = [DataPair(0.0, 0.25)]
    found = refusals.sorted_out(Answers(None), pairs, lambda side: True, InputError("gone"))
    assert "gone" in found.doubts()[0]


def test_a_command_that_ended_is_not_acquitted(tmp_path):
    """Broken variant: a note says that it was started again. Control: one that stays."""
    said = {}
    for name, ends in (("stays", "False"), ("ends", "not os.path.exists(MARK)")):
        mark = tmp_path / name
        (tmp_path / f"{name}.py").write_text(PROGRAM.format(mark=str(mark), ends=ends), "utf-8")
        command = f"{sys.executable} {tmp_path / f'{name}.py'}"
        said[name] = audit(Exec(command), epsilon=1.0, budget="smoke")
    failed = {
        name: [
            one["statistics"]["doubts"][0] for one in report.record["checks"] if one["kind"] == origins.KIND
        ]
        for name, report in said.items()
    }
    assert not failed["stays"]
    assert said["stays"].verdict == "not_refuted"
    [doubt] = failed["ends"]
    assert NOW_AND_THEN in doubt
    assert "exit status 3" in doubt
    assert said["ends"].verdict == "inconclusive"


PROGRAM = """
import json, os, random, sys
MARK, data, asked = {mark!r}, 0.0, 0
for line in sys.stdin:
    request = json.loads(line)
    if "protocol" in request:
        answer = {{"ready": True, "kind": "release"}}
    else:
        asked += 1
        if asked == 3 and {ends}:
            open(MARK, "w").close()
            os._exit(3)
        data = request.get("data", data)
        coins = random.Random(int(request["seed"]))
        made = [data + coins.expovariate(0.5) - coins.expovariate(0.5) for _ in range(request["runs"])]
        answer = {{"id": request["id"], "outputs": made}}
    print(json.dumps(answer), flush=True)
"""
