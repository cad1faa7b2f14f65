"""Where an upper bound ends is said before an audit, with what to write instead, and that has a bound."""

import pytest

from tests.user_code import rewritten
from verifiable_dp.evidence.judge import outside
from verifiable_dp.targets import unbounded
from verifiable_dp.targets.plays import PlaySampler

CONSTRUCTS = {name: one for name, one in vars(outside).items() if type(one) is outside.Construct}
DISCLOSED = ("GIVEN", "TAKEN", "SLICED")  # at which the search goes on if what is picked from is disclosed


def found(play):
    return unbounded.outside(PlaySampler(play, False, 2, 12, 0, followed=True))


@pytest.mark.parametrize("name", sorted(CONSTRUCTS.keys() - {"CHOSEN"}))  # of any other expression
def test_a_construct_is_named_and_what_to_write_instead_is_not(name, monkeypatch):
    """Broken variants: a construct without its program, or an advice that does not help."""
    if name in DISCLOSED:
        monkeypatch.setattr(unbounded, "_TELLINGS", 0)
    code, instead = rewritten.TWINS[name]
    (named,) = found(code)
    before, _, after = CONSTRUCTS[name].words.partition("{}")
    assert named.words.startswith(before)
    assert named.words.endswith(after)
    assert named.instead == CONSTRUCTS[name].instead
    assert named.line > code.__code__.co_firstlineno or name in ("BY_PYTHON", "RECURSION")
    assert found(instead) == []


def test_what_was_picked_from_may_be_disclosed():
    """Broken variant: each such place is told of, though a bound may go on there."""
    assert all(found(rewritten.TWINS[name][0]) == [] for name in DISCLOSED)


def test_what_is_disclosed_stays_so(monkeypatch):
    """Broken variant: nothing is disclosed, and both picks are told of."""
    assert found(rewritten.taken_by_what_was_taken) == []
    monkeypatch.setattr(unbounded, "_TELLINGS", 0)
    told = found(rewritten.taken_by_what_was_taken)
    assert [named.instead for named in told][1:] == [outside.GIVEN.instead]


def test_the_line_is_that_of_the_construct():
    (named,) = found(rewritten.at_a_place)
    assert unbounded.words(named).startswith(f"ends at rewritten.py:{named.line}: calls an entry of a table")
    assert named.line == rewritten.at_a_place.__code__.co_firstlineno + 1
