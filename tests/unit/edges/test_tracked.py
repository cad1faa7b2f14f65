"""Edges of what a traced run writes down: which line it was, what decided, and what a replay is given."""

import math

import numpy as np
import pytest

from verifiable_dp.evidence import symbolic
from verifiable_dp.evidence.tracing import ledger
from verifiable_dp.evidence.tracing.laws import Law
from verifiable_dp.evidence.tracing.ledger import DivergedError, Flips, Lead, Ledger, Note, NoteKind, Place

HERE = frozenset({__file__})
SAME = ledger.SAME


def new(forced=None, **given):
    return Ledger(HERE, forced, **given)


# ---------------------------------------------------------------- what is one answer


@pytest.mark.parametrize(
    ("a", "b", "one"),
    [
        (1.0, 1.0, True),
        (0.0, 0.99 * SAME, True),
        (0.0, 1.01 * SAME, False),
        (1e9, 1e9 * (1 + 0.99 * SAME), True),
        (1e9, 1e9 * (1 + 1.01 * SAME), False),
        ([1.0, math.nan], [1.0, math.nan], True),
        ([1.0, math.nan], [math.nan, 1.0], False),
        ([1.0], [[1.0]], False),
        ([1.0], [1.0, 1.0], False),
        (1, 1.0, True),
        (1.0 + 0.9 * SAME, 1, True),
        (1, 1.0 + 2.1 * SAME, False),
        (1 + 1j, 1 + 1j + 0.5j * SAME, True),
        ([1, 2], [1, 2], True),
        ([1, 2], [1, 3], False),
        (10**9, 10**9 + 1, False),
        ("a", "a", True),
        ("a", "b", False),
    ],
)
def test_which_outputs_are_one(a, b, one):
    assert ledger.same(a, b) is one


@pytest.mark.parametrize(
    ("a", "b", "one"),
    [
        (1, 1, True),
        (1, 2, False),
        (1.0, 1.0, True),
        (1.0, math.nextafter(1.0, 2), False),  # an answer of a program is itself, to the last bit
        (math.nan, math.nan, True),
        (math.nan, 1.0, False),
        (1.0, math.nan, False),
        ("a", "a", True),
        ("a", "b", False),
        (True, True, True),
        (True, False, False),
        (1, 1.0, True),  # of two kinds: as outputs
        (1, 1.0 + 0.5 * SAME, True),
        (np.array([1.0]), np.array([1.0 + 0.5 * SAME]), True),
        (np.array([1]), np.array([2]), False),
    ],
)
def test_which_answers_are_one(a, b, one):
    assert ledger.same_answer(a, b) is one


# ---------------------------------------------------------------- lines


def test_the_line_of_a_question_is_that_of_the_innermost_file():
    place = ledger.caller(HERE)
    assert (place.file, place.words()) == (__file__, f"{__file__}:{place.line}")
    assert ledger.caller(HERE).line == place.line + 2
    assert ledger.caller(frozenset()).file == __file__  # of whatever is not ours
    space = {}
    exec(compile("def ask(caller):\n    return caller(frozenset())\n", symbolic.__file__, "exec"), space)
    assert space["ask"](ledger.caller).file == __file__  # broken variant: of whatever is not tracing
    assert ledger.caller(frozenset({"/no/such/file"})) != Place("", 0)


def test_a_file_that_calls_the_tracing_is_no_traced_file():
    """Lines of callers above the traced run do not count."""
    source = "def run(call):\n    return call()\n"
    space = {}
    exec(compile(source, ledger._START[0], "exec"), space)
    inner = {}
    exec(compile("def step(caller, files):\n    return caller(files)\n", "/inner.py", "exec"), inner)
    found = space["run"](lambda: 1)
    assert found == 1
    step = inner["step"]
    code = compile(
        "def begin(run, step, caller, files):\n    return run(lambda: step(caller, files))\n", "/o", "exec"
    )
    outer = {}
    exec(code, outer)
    begin = outer["begin"]
    given = space["run"], step, ledger.caller
    assert begin(*given, frozenset({"/inner.py"})) == Place("/inner.py", 2)
    assert begin(*given, frozenset({"/o"})) == Place("/o", 2)
    run_only = space["run"]
    assert run_only(lambda: step(ledger.caller, HERE)).file == __file__
    deep = {}
    exec(
        compile("def go(run, step, caller, files):\n    return run(step, caller, files)\n", "/o", "exec"),
        deep,
    )
    plain = {}
    exec(compile("def run(step, *given):\n    return step(*given)\n", ledger._START[0], "exec"), plain)
    assert deep["go"](plain["run"], step, ledger.caller, frozenset({"/o"})) == Place("/inner.py", 2)


@pytest.mark.parametrize(
    ("what", "data", "words"),
    [
        ("branch", "rewards", "raw rewards decide a branch"),
        ("index", "contexts or rewards", "raw contexts or rewards are used as an index"),
        ("anything", "rewards", "anything"),
    ],
)
def test_what_a_lead_says(what, data, words):
    assert ledger.words_of(what, data) == words


# ---------------------------------------------------------------- what decides


def test_leads_are_counted_by_line_and_kind():
    mine = new()
    for _ in range(3):
        mine.lead("branch", outcome=True, data=[1.0, 2.0])
    mine.lead("index")
    mine.lead("branch", outcome=0)
    assert [(lead.what, lead.count, lead.order) for lead in mine.leads.values()] == [
        ("branch", 3, 0),
        ("index", 1, 1),
        ("branch", 1, 2),
    ]
    assert [(one.what, one.outcome, one.compared) for one in mine.decided] == [("branch", True, 0)] * 3 + [
        ("branch", 0, 0)
    ]
    abouts = [one.about for one in mine.decided]
    assert abouts[0] == abouts[1] == hash(np.array([1.0, 2.0]).tobytes()) != abouts[3] == 0


def test_decisions_say_how_many_coins_came_before():
    mine = new()
    mine.compare(0.5, True)
    mine.lead("branch", outcome=1)
    mine.compare(0.25, False)
    mine.lead("branch", outcome=1)
    assert [one.compared for one in mine.decided] == [1, 2]
    assert [chance for _, chance in mine.compared] == [0.5, 0.25]


def at(line, what="branch", order=0, file="a"):
    return Lead(what, Place(file, line), 1, order)


def test_leads_in_order():
    """Those that decide first; a plain number on a line where something decides says nothing more."""
    given = [
        at(3, "number", 0),
        at(1, "branch", 2),
        at(2, "index", 1),
        at(1, "number", 3),
        at(4, "shared", 4),
    ]
    assert [(lead.what, lead.place.line) for lead in ledger.in_order(given)] == [
        ("index", 2),
        ("branch", 1),
        ("number", 3),
        ("shared", 4),
    ]
    assert [one.place.line for one in ledger.in_order([at(2), at(1)])] == [1, 2]
    assert [one.place.file for one in ledger.in_order([at(1, file="b"), at(2, file="a")])] == ["a", "b"]


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        ([0, 1, 2], [0, 1, 2]),
        ([0, 0, 1, 1, 0], [0, 1, 0]),
        ([(3, 1), (3, 2), (4, 0)], [3, 4]),
        ([np.array([1, 5])], [5]),
        ([np.array([1, 5])] * 2, [5]),
        ([np.zeros(0, int), [], 2.0, True], []),
        ([np.uint8(7)], [7]),
    ],
)
def test_which_rows_are_read(keys, rows):
    mine = new()
    for key in keys:
        mine.reach(key)
    assert mine.rows == [(row, 0) for row in rows]


def test_rows_are_read_after_so_many_releases():
    mine = new()
    mine.reach(0)
    given(mine)
    mine.reach(1)
    assert mine.rows == [(0, 0), (1, 1)]


def test_rewards_that_enter():
    mine, foreign = new(), Ledger(frozenset({"/no/such/file"}))
    assert [mine.read() for _ in range(3)] == [True] * 3
    assert list(mine.reads.values()) == [3]
    assert foreign.read() is False
    assert foreign.reads == {}


def test_notes_are_kept_once_with_their_first_line():
    mine = new()
    for words, kind in (
        ("a", NoteKind.FIXED),
        ("b", NoteKind.FIXED),
        ("a", NoteKind.FIXED),
        ("a", NoteKind.COMPILED),
    ):
        mine.note(words, kind)
    mine.note("c")
    assert list(mine.notes) == [
        Note(NoteKind.FIXED, "a"),
        Note(NoteKind.FIXED, "b"),
        Note(NoteKind.COMPILED, "a"),
        Note(NoteKind.UNREPEATABLE, "c"),
    ]
    first = mine.notes[Note(NoteKind.FIXED, "a")]
    mine.note("a", NoteKind.FIXED)
    assert mine.notes[Note(NoteKind.FIXED, "a")] is first


def test_coins_are_turned_where_a_replay_says_so():
    mine = new(flips=frozenset({1}))
    assert [mine.compare(0.5, outcome) for outcome in (True, True, False, True)] == [True, False, False, True]
    assert [new(flips=frozenset({0})).compare(0.5, False)] == [True]


# ---------------------------------------------------------------- draws


def test_draws_are_numbered_and_add_up_once():
    mine = new()
    assert mine.number((2,)).tolist() == [0, 1]
    assert mine.number((2, 2)).tolist() == [[2, 3], [4, 5]]
    assert (mine.sum_of(0, 1), mine.sum_of(1, 0), mine.sum_of(0, 0), mine.sum_of(1, 2)) == (6, 6, 7, 8)
    assert mine.halves == {0, 1, 2}
    assert mine.merged == {(0, 1): 6, (0, 0): 7, (1, 2): 8}
    assert mine.joined(np.array([3]), np.array([4])).tolist() == [9]
    assert mine.halves == {0, 1, 2, 3, 4}


def test_draws_are_used_once_for_each_thing():
    mine = new()
    draws = np.array([1, 2])
    assert [mine.once(draws, what) for what in ("told", "told", "asked", "asked")] == [
        True,
        False,
        True,
        False,
    ]
    assert mine.once(np.array([2, 3]), "told") is False
    assert mine.once(np.array([4]), "told") is True


LAPLACE = Law("laplace", np.array([1.0]), np.array([1.0]))


def given(mine, draws=(0,), exact=(1.0,), noise=(0.5,), law=LAPLACE, met=None):
    return mine.release(law, np.array(draws), np.array(exact), np.array(noise), met).tolist()


def test_what_is_released():
    mine = new()
    place = Place("there", 1)
    assert given(mine) == [1.5]
    assert given(mine, (1,), (2.0,), (0.25,), met=place) == [2.25]
    first, second = mine.releases
    assert (first.place, first.pure, first.spoilt) == (first.at, True, False)
    assert (second.place, second.pure) == (place, False)
    assert second.at.file == __file__
    assert (mine.public, mine.events) == ({0, 1}, 2)
    assert [mine.released(np.array(draws)) for draws in ([0], [7], [7, 1], [])] == [True, False, True, False]


@pytest.mark.parametrize(
    ("halves", "draws", "spoilt"),
    [((), (0, 1), False), ((5,), (0, 1), False), ((1,), (0, 1), True), ((0, 1), (0, 1), True)],
)
def test_a_half_of_another_draw_is_not_fresh(halves, draws, spoilt):
    mine = new()
    mine.halves.update(halves)
    given(mine, draws, (1.0, 1.0), (0.0, 0.0))
    assert mine.releases[0].spoilt is spoilt


def replayed(first, then):
    """What a replay of `first` is given that asks for `then`; both on the same line."""
    recorded = new()
    for mine, step in ((recorded, first), (new(recorded), then)):
        found = step(mine)
    return found


def twice(mine):
    for _ in range(2):
        out = given(mine)
    return out


OTHER = Law("normal", np.array([1.0]), np.array([1.0]))
ELSEWHERE = "a different release than on the neighbouring input"


def chosen(mine, shape=(1, 2), outcome=(1,), draws=None):
    return mine.choose(np.full(shape, 0.5), np.array(outcome), draws).tolist()


def told(mine, draws=(0,), chances=(0.25,), truth=(True,), out=(1.0,), other=(0.0,)):
    flips = Flips(np.array(draws), np.array(chances))
    out, truth = mine.tell(flips, np.array(truth), np.array(out), np.array(other))
    return out.tolist(), truth.tolist()


def test_a_replay_gives_out_what_was_recorded():
    assert replayed(given, lambda mine: given(mine, exact=(3.0,))) == [1.5]
    assert replayed(chosen, lambda mine: chosen(mine, outcome=(0,))) == [1]
    assert replayed(told, lambda mine: told(mine, out=(1.0,))) == ([1.0], [True])
    # On the neighbouring input the other outcome comes of the same coins, so that they must have turned.
    assert replayed(told, lambda mine: told(mine, out=(0.0,), other=(1.0,))) == ([1.0], [False])
    both = {"draws": (0, 1), "chances": (0.25, 0.5), "truth": (True, True)}
    assert replayed(
        lambda mine: told(mine, **both, out=(1.0, 1.0), other=(0.0, 0.0)),
        lambda mine: told(mine, **both, out=(1.0, 0.0), other=(0.0, 1.0)),
    ) == ([1.0, 1.0], [True, False])


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        (given, lambda mine: (given(mine), given(mine)), "one more release"),
        (lambda mine: None, given, "one more release"),
        (given, lambda mine: given(mine, (0, 1), (1.0, 1.0), (0.0, 0.0)), ELSEWHERE),
        (given, lambda mine: given(mine, law=OTHER), ELSEWHERE),
        (given, chosen, ELSEWHERE),
        (given, told, ELSEWHERE),
        (chosen, given, ELSEWHERE),
        (told, given, ELSEWHERE),
        (chosen, lambda mine: chosen(mine, shape=(1, 3)), ELSEWHERE),
        (told, lambda mine: told(mine, draws=(1,)), ELSEWHERE),
        (told, lambda mine: told(mine, chances=(0.5,)), ELSEWHERE),
        (told, lambda mine: told(mine, out=(2.0,), other=(3.0,)), "this report cannot occur"),
        (
            lambda mine: told(mine, (0, 1), (0.5, 0.5), (True, True), (1.0, 1.0), (0.0, 0.0)),
            lambda mine: told(mine, (0, 1), (0.5, 0.5), (True, True), (0.0, 2.0), (1.0, 3.0)),
            "this report cannot occur",
        ),
    ],
)
def test_where_a_replay_parts(first, then, words):
    with pytest.raises(DivergedError, match=words):
        replayed(first, then)


def test_a_release_on_another_line_is_another_one():
    recorded = new()
    LAPLACE_AT = lambda mine: mine.release(LAPLACE, np.array([0]), np.array([1.0]), np.array([0.5]))  # noqa: E731
    LAPLACE_AT(recorded)
    with pytest.raises(DivergedError, match=ELSEWHERE) as error:
        given(new(recorded))
    [release], there = recorded.releases, error.value.ended
    assert there.place.file == release.at.file == __file__
    assert there.place.line != release.at.line
    assert str(error.value).endswith(f"({release.at.words()})")


@pytest.mark.parametrize(("draws", "kept"), [(None, []), (np.array([[3, 4]]), [3, 4])])
def test_what_is_chosen(draws, kept):
    mine = new()
    chosen(mine, draws=draws)
    assert (mine.releases[0].draws.tolist(), mine.events) == (kept, 1)


def test_coins_that_tell_twice_may_be_seen():
    mine = new()
    told(mine)
    assert mine.seen == set()
    told(mine)
    assert mine.seen == {0}
    assert mine.events == 2
