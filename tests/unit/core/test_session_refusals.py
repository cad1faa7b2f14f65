"""Small refusals of live sessions, each by itself: what is saved, where, and what a file holds."""

import math
from types import SimpleNamespace

import pytest

from tests.live import feed, small
from verifiable_dp.core import kept_session, turns
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.rights import Stamped
from verifiable_dp.core.session import Session
from verifiable_dp.core.validate import InputError


@pytest.mark.parametrize("value", [0, 3])
def test_whole_numbers(value):
    assert kept_session._whole("rounds", value) == value


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", None])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InputError, match="session: rounds must be a whole number, got "):
        kept_session._whole("rounds", value)


def test_the_stamps_before_a_state_are_a_list_of_whole_numbers():
    mark = {"generation": 3, "stamp": 9, "follows": [0, 5]}
    assert kept_session.mark(mark) == Stamped(3, 9, (0, 5))
    for follows, words in ((5, "must be a list, got int"), ([5, -1], "must be a whole number, got -1")):
        with pytest.raises(InputError, match=f"session: follows {words}"):
            kept_session.mark({**mark, "follows": follows})


def test_what_is_no_object_is_refused():
    assert kept_session.fields_of("block", {"a": 1}) == {"a": 1}
    with pytest.raises(InputError, match="session: block must be an object, got list"):
        kept_session.fields_of("block", [])


def algorithm(contribution=1.0, horizon=8, claim=True):
    return SimpleNamespace(
        name="it", horizon=horizon, contribution=contribution, claim=PrivacyClaim(1.0) if claim else None
    )


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        (algorithm(), 2.0 ** (4 - 52)),  # a sum of 8 lies below 2^4
        (algorithm(contribution=0.5, horizon=6), 2.0 ** (2 - 52)),
        (algorithm(contribution=math.inf, claim=False), 0.0),
    ],
)
def test_the_grid_of_what_is_summed(given, unit):
    assert turns._unit(given) == unit


def test_a_reward_that_nothing_bounds_is_refused():
    with pytest.raises(InputError, match="session: it does not bound what a reward adds to a sum"):
        turns._unit(algorithm(contribution=math.inf))


class Unplain:
    name = "it"

    @property
    def parameters(self):
        raise TypeError("parameter f is a function")


def test_an_algorithm_that_cannot_be_written_is_refused():
    with pytest.raises(InputError, match="session: the algorithm cannot be saved: parameter f is a function"):
        kept_session.identity(Unplain())


def test_a_file_of_another_algorithm_is_refused():
    mine = small("dp-se")
    stored = kept_session.identity(mine) | {"noise": {}}
    for name in ("algorithm", "parameters"):
        with pytest.raises(InputError, match=f"session: 'here' has {name} 'other', not "):
            Session._of(mine, "here", stored | {name: "other"}, None, True, 0.0)


def test_a_seed_that_nobody_expects_is_refused(quick):
    mine, path = small("dp-se"), quick / "s"
    feed(mine.session(seed=2), 3).save(path)
    with pytest.raises(InputError, match="has a seed, from which all its noise can be computed"):
        mine.restore(path)
    assert mine.restore(path, seeded=True).rounds == 3


def test_a_session_is_saved_where_it_lives(quick):
    with small("dp-se").session(path=quick / "s") as mine:
        mine.save(quick / "s")
        with pytest.raises(InputError, match=r"session: it lives in .*; close it, move the file"):
            mine.save(quick / "other")
    assert not (quick / "other").exists()
