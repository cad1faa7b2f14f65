"""Plain runs that show numbers which few others show."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.user_code import seldom_met
from verifiable_dp.evidence.symbolic import rare_numbers
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.paths import Program, explore
from verifiable_dp.evidence.symbolic.rare_numbers import Course, Sightings, rare_runs, sites_of
from verifiable_dp.evidence.symbolic.source import where
from verifiable_dp.evidence.tracing.reach import scopes_of

FILE = seldom_met.__file__


def found(play):
    return explore(Program(play, (40, 2), (0.0, 1.0)), 2, most=14)


@pytest.fixture
def runs_alone(monkeypatch):
    """No rule over the source looks for rare outcomes."""
    monkeypatch.setattr(Coverage, "jumping", lambda *_: None)


@pytest.fixture
def by_chance(monkeypatch):
    """No run changes another one."""
    monkeypatch.setattr(rare_numbers, "_BY_CHANCE", 1.0)


@pytest.mark.usefixtures("runs_alone")
@pytest.mark.parametrize("play", seldom_met.LEAKS, ids=lambda f: f.__name__)
def test_what_a_rare_number_gives_away_is_counted(play):
    assert found(play).epsilon() == pytest.approx(1000.0)


@pytest.mark.usefixtures("runs_alone")
@pytest.mark.parametrize("play", seldom_met.RIGHT, ids=lambda f: f.__name__)
def test_a_rare_number_that_gives_nothing_away_costs_nothing(play):
    assert found(play).epsilon() == pytest.approx(1.0)


@pytest.mark.usefixtures("runs_alone", "by_chance")
def test_chance_alone_does_not_come_to_what_is_rarest():
    """The control: without runs that change others, one run in a million is not met."""
    assert found(seldom_met.twenty_coins).epsilon() == pytest.approx(1.0)


def test_what_no_rule_over_the_source_sees():
    """Here the rules are on; without the plain runs the bound is 1."""
    assert found(seldom_met.noisy_readings).epsilon() == pytest.approx(1000.0)


def test_no_plain_runs_without_work_for_them(monkeypatch):
    monkeypatch.setattr(rare_numbers, "_MOST", 0)
    assert found(seldom_met.noisy_readings).epsilon() == pytest.approx(1.0)


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("seed", range(5))
def test_a_generator_gives_the_words_of_a_course(seed):
    course = Course.any(np.random.default_rng(seed), 0)
    assert course.bits().random_raw(624).tolist() == course.words.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_course_keeps_its_data_and_what_is_around_the_change(seed):
    rng = np.random.default_rng(seed)
    course = Course.any(rng, 3)
    other = course.changed(rng)
    (places,) = np.nonzero(course.words != other.words)
    assert other.table == 3
    assert places.size >= 1
    assert places.size == places[-1] - places[0] + 1


def test_runs_that_chance_seldom_makes_come_first():
    """Of 8,000 runs, one has more heads than chance would show in a million."""
    play, most = seldom_met.twenty_coins, []

    def run(_, bits):
        play(np.full((40, 2), 0.5), np.random.Generator(bits))

    for course in rare_runs(run, 1, scopes_of(play), frozenset(), 8000):
        coins = np.random.Generator(course.bits()).random(20) < 0.5
        most.append(int(coins[:10].sum() + (~coins[10:]).sum()))
    assert max(most) == 20


# ---------------------------------------------------------------- what is noted


@pytest.mark.parametrize(
    ("value", "noted"),
    [
        (3, {3}),
        (2.5, {2.5}),
        (True, {True}),
        ("x", {"x"}),
        (np.int64(4), {4}),
        (np.array([3.0, 1.0, 2.0]), {1.0, 3.0}),
        ([3, 1, 2], {1, 3}),
        ((0.5,), {0.5}),
        (np.zeros(0), set()),
        (np.zeros(65), set()),
        ([], set()),
        (["a", "b"], set()),
        ([1, None], set()),
        ({1: 2}, set()),
        (None, set()),
    ],
    ids=repr,
)
def test_what_is_noted_of_a_value(value, noted):
    sightings = Sightings()
    assert sightings.note("here", value) is value
    assert sightings.now == {("here", one) for one in noted}


def test_what_more_than_a_twentieth_of_the_runs_show_is_usual():
    sightings, course = Sightings(), Course(0, np.zeros(624, np.uint32))
    for run in range(100):
        sightings.note("here", run < 5)
        sightings.note("there", run < 6)
        sightings.end(course, course.bits())
    sightings.settle(100)
    assert ("here", True) not in sightings.usual
    assert ("there", True) in sightings.usual


def test_sites_of_noise_and_of_schedules_are_left_alone():
    sightings, course = Sightings(), Course(0, np.zeros(624, np.uint32))
    for run in range(70):
        for turn in range(8):
            sightings.note("turns", turn)
            sightings.note("a turn more at last", turn + (run == 69))
        sightings.note("noise", run * 0.1)
        sightings.note("few", run % 64)
        sightings.note("constant", 1)
        sightings.end(course, course.bits())
    sightings.rest(70)
    assert sightings.idle == {"turns", "noise"}


def test_the_rarest_come_first_and_those_of_weights_before_the_rest():
    rng, sightings = np.random.default_rng(1), Sightings()
    rare, rarer, heavy = (Course.any(rng, 0) for _ in range(3))
    for course, here, weight in ((rare, 1, 0), (rare, 1, 0), (rarer, 2, 0), (heavy, 3, 7), (heavy, 3, 7)):
        sightings.note("here", here)
        sightings.note("weight", weight)
        sightings.end(course, course.bits())

    def first(*sites):
        return int(sightings.rarest(frozenset(sites), 1)[0].words[0])

    assert first() == rarer.words[0]
    assert first("weight") == heavy.words[0]


def test_of_several_runs_that_show_a_thing_the_one_with_other_rare_things_is_kept():
    rng, sightings = np.random.default_rng(2), Sightings()
    plain, both, later = (Course.any(rng, 0) for _ in range(3))
    for course, there in ((plain, 0), (both, 1), (later, 0)):
        sightings.note("here", 1)
        sightings.note("there", there)
        sightings.end(course, course.bits())
    _, run, _ = sightings.seen["here", 1]
    assert sightings.courses[run].words[0] == both.words[0]


SOURCE = """
def f(a, *rest, k=1, **more):
    b = [x * k for x in rest if x > a]
    b[a:a + 2] = [y := a + 1]
    d = {"z": a, **more}
    d["z"] += k * 2
    g = lambda u, v=a + 1: u - v
    s = f"{a + 1:>4}"
    t = (a < k < 3, not a == k, b[-1:], b[0], g(a), max(*rest, a), y, s)
    for i, j in zip(b, range(len(b))):
        t = (*t, i if i > j else -j)
    return t, d, sum(x for x in rest), sorted(rest, key=lambda x: -x)
"""


def test_code_that_notes_its_numbers_does_the_same():
    file = "written here"
    scope, other = {}, {}
    exec(compile(SOURCE, file, "exec"), scope)
    made = rare_numbers._compiled(file, SOURCE, frozenset())
    (code,) = [code for code in made if code.co_name == "f"]
    exec(compile(SOURCE, file, "exec"), other)
    other["f"].__code__ = made[code]
    sightings = Sightings()
    other[rare_numbers.PREFIX + "note"] = sightings.note
    assert other["f"](1, 2, 3, k=2, q=5) == scope["f"](1, 2, 3, k=2, q=5)
    assert {"k", "rest", "x"} <= {
        ast.get_source_segment(SOURCE, node)
        for node in ast.walk(ast.parse(SOURCE))
        if f"{file}:{where(node)}" in {site for site, _ in sightings.now}
    }


@pytest.mark.parametrize(
    ("text", "side", "parts"),
    [
        ("a * (b + 1)", 0, {"a"}),
        ("a * (b + 1)", 1, {"b + 1"}),
        ("a * (b + 1)", None, {"a", "b + 1"}),
        ("g(a, k=b)", None, {"g", "a", "b"}),
        ("c += a", 1, {"a", "c"}),
    ],
)
def test_the_parts_of_what_weighs(tmp_path, text, side, parts):
    file = tmp_path / "code.py"
    file.write_text(text, "utf-8")
    nodes = [*ast.walk(ast.parse(text))]
    top = next(n for n in nodes if getattr(n, "lineno", 0))
    sites = sites_of([(str(file), where(top), side)])
    said = {ast.get_source_segment(text, n) for n in nodes if f"{file}:{where(n)}" in sites}
    assert said == parts
