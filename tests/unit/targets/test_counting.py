"""What the parent makes of messages about runs: it counts those that fit, and refuses all else."""

import numpy as np
import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.targets import counting
from verifiable_dp.targets.counting import Counting

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
PAIR = {"words": "a pair", "round": 0, "arm": 0, "data": None}
RULE = {"test_runs": 100, "delta": 0.0, "level": 0.05, "boosted": False, "offered": None}
SEEN = {"sampler": SAMPLER, "pair": PAIR, "path": [1, 0], "sizes": [40, 40], "starts": [0, 0]}
LEARNS, COUNTS = {**SEEN, "rule": RULE}, {**SEEN, "path": [2, 0], "events": [0]}


def frames(left=0, right=1, width=3, runs=40):
    """Runs of the two worlds, which play one arm each."""
    for part, arm in enumerate((left, right)):
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
    numbers = {"k1": 40, "n1": 40, "k0": 0, "n0": 40, **event, **more}
    check = {"name": "black box", "kind": "black_box", "statistics": numbers}
    return {"checks": [check], "target": {"parameters": {"n_arms": 2, "horizon": 3}}}


def held(count, **more):
    """Hold a draft of one check against a count, which passes unless `more` changes it."""
    one = count.chosen[0]
    horizon = more.pop("horizon", 3)
    draft = stated(words=one.event.describe(), direction=one.direction, **more)
    draft["target"]["parameters"]["horizon"] = horizon
    count.held(draft)


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


def test_a_draft_without_counts_does_not_hold():
    with pytest.raises(InputError, match="had none of its runs counted"):
        Counting().held({"checks": [], "target": {"parameters": {}}})


def test_a_count_goes_on_or_begins_anew(learnt):
    """So that no run counts twice; runs from the start again give what they gave."""
    learnt.answer(COUNTS, frames())
    learnt.answer({**COUNTS, "starts": [40, 40]}, frames())
    assert learnt.chosen[0].rows()[-1] in ([80, 80, 0, 80], [0, 80, 80, 80])
    learnt.answer(COUNTS, frames())
    assert learnt.chosen[0].rows()[-1] == learnt.chosen[0].rows()[0]
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


def test_data_that_are_sent_along_are_numbers():
    """Broken variant: whatever kind of array is named is made."""
    for data in (3, 0.5, np.arange(4, dtype=np.int32), np.array([[True, False]]), np.ones(2, np.float32)):
        again = counting._data(counting._plain(data))
        assert type(again) is type(data)
        assert np.array_equal(again, data)
        assert np.asarray(again).dtype == np.asarray(data).dtype
    assert counting._plain("text") is counting._plain(np.array(["text"])) is None
    with pytest.raises(InputError, match="told of data that are no numbers"):
        counting._data({"shape": [1], "of": "O", "values": ["x"]})
