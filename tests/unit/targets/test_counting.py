"""What the parent makes of messages about runs: it counts those that fit, and refuses all else."""

import json

import numpy as np
import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.curves import CurveSetting, Grid
from verifiable_dp.targets import counting, sent
from verifiable_dp.targets.chosen import ChosenEvent
from verifiable_dp.targets.count_terms import APART, CountTerms

SAMPLER = {
    "many": False,
    "n_arms": 2,
    "horizon": 3,
    "seed": 0,
    "factor": 1.0,
    "shard": 40,
    "rows": None,
    "followed": False,
    "joint": False,
    "process": True,
}
PAIR = {"words": "a pair", "round": 0, "arm": 0, "data": None, "digest": None}
RULE = {"test_runs": 100, "delta": 0.0, "level": 0.05, "caution": 2.5, "boosted": False, "offered": None}
SEEN = {"sampler": SAMPLER, "pair": PAIR, "path": [1, 0], "sizes": [40, 40], "starts": [0, 0]}
LEARNS, COUNTS = {**SEEN, "rule": RULE}, {**SEEN, "path": [2, 0], "events": [0]}

TERMS = CountTerms(0, 1e-6, 0.95, numerics=False, curve=False, joint=False, sure=0.999)
STATED = {"epsilon": 1.0, "delta": 0.0, "alpha": 1e-6, "confidence": 0.95, "tests": 4}


def Counting(terms=TERMS):
    return counting.Counting(terms)


def frames(left=0, right=1, width=3, runs=40):
    """Runs of the two worlds, which play one arm each, in shards of 40."""
    sizes = [min(40, runs - at) for at in range(0, runs, 40)]
    for part, (arm, runs) in enumerate((arm, size) for arm in (left, right) for size in sizes):
        yield {"part": part, "width": width}, np.full((runs, width), arm, np.int8).tobytes()


@pytest.fixture
def learnt():
    """A count of which one event is known, that of the arms that world 0 plays."""
    found = Counting()
    [(number, _)] = found.answer(LEARNS, frames())
    assert number == 0
    return found


def stated(**more):
    """A check of the event that was counted once."""
    event = {"event": more.pop("words"), "direction": more.pop("direction"), "pair": "a pair"}
    numbers = {"k1": 40, "n1": 40, "k0": 0, "n0": 40, **event, **STATED, **more}
    result = {"verdict": "refuted"}
    check = {"name": "black box", "kind": "black_box", "statistics": numbers, "result": result}
    target = {"kind": "play", "parameters": {"n_arms": 2, "horizon": 3}}
    return {"checks": [check], "target": target, "claim": {"epsilon": 1.0, "delta": 0.0}}


def held(count, **more):
    """Hold a draft of one check against a count, which passes unless `more` changes it."""
    one = count.chosen[0]
    horizon = more.pop("horizon", 3)
    draft = stated(words=one.event.describe(), direction=one.direction, **more)
    draft["target"]["parameters"]["horizon"] = horizon
    return count.held(draft)


def test_hits_are_counted_and_a_check_holds(learnt):
    assert learnt.answer(COUNTS, frames()) in ([(40, 0)], [(0, 40)])
    held(learnt)
    assert learnt.samples() == []  # no data were sent along


@pytest.mark.parametrize(("change", "said"), [({"k1": 39}, "are not those"), ({"n0": 80}, "are not those")])
def test_other_counts_do_not_hold(learnt, change, said):
    learnt.answer(COUNTS, frames())
    with pytest.raises(InputError, match=said):
        held(learnt, **change)


def test_runs_of_another_horizon_do_not_hold(learnt):
    learnt.answer(COUNTS, frames())
    with pytest.raises(InputError, match="made runs of another horizon than was asked"):
        held(learnt, horizon=4)


ASKED = {
    "alpha": ({"alpha": 1e-9}, "states another alpha"),
    "confidence": ({"confidence": 0.9}, "states another confidence"),
    "epsilon": ({"epsilon": 2.0}, "states another epsilon"),
    "delta": ({"delta": 0.1}, "states another delta"),
    "tests": ({"tests": 13}, "states another tests"),
}


@pytest.mark.parametrize("name", ASKED)
def test_levels_are_those_that_were_asked(learnt, name):
    """Control: 12 tests are the most, as two looks may have left no check."""
    change, said = ASKED[name]
    learnt.answer(COUNTS, frames())
    assert held(learnt, tests=12) == []
    with pytest.raises(InputError, match=said):
        held(learnt, **change)


OTHERS = {
    "seed": ({"seed": 1}, {}, "are not those"),
    "less noise": ({"factor": 0.5}, {}, "are not those"),
    "joint": ({"joint": True}, {}, "of which others are seen than was asked"),
    "neighbours": (
        {},
        {"data": [{"value": 1}, {"value": 1}], "digest": sent.digest_of([1, 1])},
        "neighbours that are the same",
    ),
    "delta": ({}, {}, "events chosen for another delta"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_counts_of_something_else_do_not_hold(name):
    """Control: those of a later look, whose seed is its own."""
    sampler, pair, said = OTHERS[name]
    for change in ({"seed": 3 * APART}, sampler):
        count, other = Counting(), {"sampler": {**SAMPLER, **change}, "pair": {**PAIR, **pair}}
        if change is not sampler:
            other["pair"] = PAIR
        rule = {**RULE, "delta": 0.5} if name == "delta" and change is sampler else RULE
        count.answer({**LEARNS, **other, "rule": rule}, frames())
        count.answer({**COUNTS, **other}, frames())
        if change is sampler:
            with pytest.raises(InputError, match=said):
                held(count, **dict(zip(("k1", "n1", "k0", "n0"), rows(count)[-1], strict=True)))
        else:
            assert held(count) == []


class Asked:
    """What had to be compared: a pair of these words, which may follow from what is played on a table."""

    open = False

    def __init__(self, words="a pair", runs=None):
        self.words, self.runs = words, runs

    def of_bandit(self, play, runs):
        if self.runs is not None:
            assert play(np.zeros((3, 2)), self.runs).shape == (self.runs, 3)
        return [self]

    def worlds(self):
        return [object()]

    def describe(self):
        return self.words


PLAYED = {"sampler": SAMPLER, "plays": [{"path": [4, 1], "runs": 3}]}


def asked_for(designed, told=False, **more):
    """Hold a draft of one check against neighbours that had to be compared."""
    count = counting.Counting(TERMS, designed=designed)
    if told:
        count.answer(PLAYED, iter([next(frames(runs=3))]))
    count.answer({**LEARNS, **more}, frames())
    count.answer({**COUNTS, "sampler": more.get("sampler", SAMPLER)}, frames())
    statistics = dict(zip(("k1", "n1", "k0", "n0"), rows(count)[-1], strict=True))
    one = count.chosen[0]
    draft = stated(words=one.event.describe(), direction=one.direction, **statistics)
    return count, {**draft, "plan": {"sizes": {"runs": 4000}}, "not_covered": []}


def test_the_neighbours_that_follow_were_compared():
    """And what they follow from is asked again."""
    for designed, told in ((Asked(), False), (Asked(runs=3), True)):
        count, draft = asked_for(designed, told)
        assert count.held(draft) == []
        assert count.noted()["neighbours"] == 1
        assert [sample.path for sample in count.samples()] == [(4, 1)] * told


def later(look):
    return {"sampler": {**SAMPLER, "seed": look * APART}}


COMPARED = {
    "others": (Asked("another pair"), {}, "did not compare the pairs of inputs that it was asked for"),
    "adversaries alone": (Asked(), later(3), "did not compare the pairs of inputs that it was asked for"),
    "none before": (Asked(), later(1), "did not compare the pair of inputs that it had tested"),
    "nothing was told": (Asked(runs=3), {}, "did not tell what its plain neighbours follow from"),
    "other runs": (Asked(), {"path": [4, 0]}, "an event that was not chosen on runs of a look"),
}


@pytest.mark.parametrize("name", COMPARED)
def test_others_were_compared(name):
    """Control: `test_the_neighbours_that_follow_were_compared`."""
    designed, more, said = COMPARED[name]
    count, draft = asked_for(designed, **more)
    with pytest.raises(InputError, match=said):
        count.held(draft)


def test_a_curve_is_of_a_pair_that_was_tested():
    count, draft = asked_for(Asked())
    rule = CurveSetting(Grid((1.0,), ()), 0.0, 100)
    count.used.append((ChosenEvent(count.chosen[0].event, {**PAIR, "words": "x"}, SAMPLER, rule), []))
    with pytest.raises(InputError, match="measured the curve on a pair of inputs that was not tested"):
        count.held(draft)


def test_data_are_those_of_the_runs():
    learnt = Counting()
    told = {**PAIR, "data": [{"value": 1}, {"value": 2}], "digest": sent.digest_of([1, 3])}
    learnt.answer({**LEARNS, "pair": told}, frames())
    with pytest.raises(InputError, match="told of other data than those of its runs"):
        learnt.answer({**COUNTS, "pair": told}, frames())


def rows(count):
    one = count.chosen[0]
    return [one.row(look) for look in one.looks]


@pytest.mark.parametrize(("runs", "found"), [(80, [counting.LEFT_OUT]), (30, [])])
def test_counts_that_refute_are_not_left_out(learnt, runs, found):
    """Of 30 runs all hit, as e / (1 + e) of them may: the bound lies above the claim, and that may be chance.

    Right code comes to 30 hits of 30 once in 12,000 audits, to 80 of 80 once in 7e10: less often than it may
    be doubted, 4e-7.
    """
    learnt.answer({**COUNTS, "sizes": [runs, runs]}, frames(runs=runs))
    one = learnt.chosen[0]
    assert learnt._speaks(one, one.looks[0], {"claim": {"epsilon": 1.0, "delta": 0.0}})
    learnt.answer({**LEARNS, "pair": {**PAIR, "words": "another pair"}}, frames())
    learnt.answer({**COUNTS, "pair": {**PAIR, "words": "another pair"}, "events": [1]}, frames(0, 0))
    one = learnt.chosen[1]
    assert isinstance(one, ChosenEvent)
    draft = stated(words=one.event.describe(), direction=one.direction)
    draft["checks"][0]["statistics"] |= {
        "pair": "another pair",
        **dict(zip(("k1", "n1", "k0", "n0"), one.row(one.looks[0]), strict=True)),
    }
    assert learnt.held(draft) == found


def test_a_draft_without_counts_does_not_hold():
    with pytest.raises(InputError, match="had none of its runs counted"):
        Counting().held({"checks": [], "target": {"kind": "play", "parameters": {}}})


def test_a_count_goes_on_or_begins_anew(learnt):
    """So that no run counts twice; runs from the start again give what they gave."""
    learnt.answer(COUNTS, frames())
    learnt.answer({**COUNTS, "starts": [40, 40]}, frames())
    assert rows(learnt)[-1] in ([80, 80, 0, 80], [0, 80, 80, 80])
    learnt.answer(COUNTS, frames())
    assert rows(learnt)[-1] == rows(learnt)[0]
    with pytest.raises(InputError, match="runs counted that do not follow the last ones"):
        learnt.answer({**COUNTS, "starts": [20, 20]}, frames())


SAMPLERS = {
    "more": ({**SAMPLER, "function": "f"}, "a sampler that there is not"),
    "no factor": ({**SAMPLER, "factor": "1"}, "a sampler that there is not"),
    "no arms": ({**SAMPLER, "n_arms": 0}, "a sampler that there is not"),
    "no shard": ({**SAMPLER, "shard": 0}, "a sampler that there is not"),
    "large shard": ({**SAMPLER, "shard": 1 << 23}, "a sampler that there is not"),
    "seed": ({**SAMPLER, "seed": 1 << 300}, "a number that is none"),
    "truth": ({**SAMPLER, "seed": True}, "a number that is none"),
    "negative": ({**SAMPLER, "horizon": -1}, "a number that is none"),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_samplers_that_there_are_not(name):
    sampler, said = SAMPLERS[name]
    with pytest.raises(InputError, match=said):
        Counting().answer({**LEARNS, "sampler": sampler}, frames())


RUNS = {
    "arms": (frames(right=2), "arms that there are not"),
    "negative arms": (frames(left=-1), "arms that there are not"),
    "width": (frames(width=4), "another form"),
    "fewer": (frames(runs=39), "another form"),
    "none": (iter(()), "cannot be read"),
    "twice": (iter([next(frames()), next(frames())]), "another form"),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs_of_another_form(name):
    made, said = RUNS[name]
    with pytest.raises(InputError, match=said):
        Counting().answer(LEARNS, made)


def test_too_many_runs(monkeypatch):
    for sizes in ([1 << 26, 1], [0, 0]):
        with pytest.raises(InputError, match="more runs than there can be, or none"):
            Counting().answer({**LEARNS, "sizes": sizes}, frames())
    monkeypatch.setattr(counting, "_MOST_KEPT", 200)
    with pytest.raises(InputError, match="sent runs of more than"):
        Counting().answer(LEARNS, frames())


@pytest.mark.parametrize("slopes", [[1.0], [[float("nan")]], [["a"]]])
def test_a_score_that_is_none(slopes):
    said = "cannot be read" if slopes == [["a"]] else "offered a score that is none"
    rule = {**RULE, "offered": {"slopes": slopes, "made": "x"}}
    with pytest.raises(InputError, match=said):
        Counting().answer({**LEARNS, "rule": rule}, frames())


def test_no_code_of_the_target_is_called_where_runs_are_counted():
    with pytest.raises(AssertionError, match="no code of the target is here"):
        counting._absent(1)


DATA = ["'a'", "b'a'", "True", "None", "(1, 'a')", "{'x': [0.5, None]}", "np.array(['a', 2.5], object)"]


@pytest.mark.parametrize("data", [*DATA, "np.float32(0.1)", "np.array(['a', 'bc'])", "[np.eye(2), 1 << 70]"])
def test_data_of_every_kind_are_asked_again(data):
    """They come out as they were, types included. Control: what is not data is not sent."""
    data = eval(data, {"np": np})
    again = sent.of_json(json.loads(json.dumps(sent.as_json(data))))
    assert (type(again), repr(again)) == (type(data), repr(data))
    assert getattr(again, "dtype", None) == getattr(data, "dtype", None)
    assert sent.as_json({"x": [data, object()]}) is sent.as_json(np.zeros(1 << 21)) is None


@pytest.mark.parametrize("told", [{}, {"value2": 1}, {"of": "V8", "shape": [1], "values": [0]}, {"bytes": 1}])
def test_data_in_another_form_are_refused(told):
    with pytest.raises(InputError, match="told of data"):
        sent.of_json(told)
