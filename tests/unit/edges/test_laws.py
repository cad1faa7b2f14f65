"""Edges of exact laws: divergences of a few atoms, paths that are possible on one input, and cuts."""

import math
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.neighbours import InteractivePair
from verifiable_dp.core.noise import Draw, Hidden
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.blackbox.machine import Node, UnsupportedError
from verifiable_dp.evidence.exact import law, limits, race, shuffle

INF = math.inf


def logs(*chances):
    return np.array([math.log(p) if p else -INF for p in chances])


# ---------------------------------------------------------------- two laws


@pytest.mark.parametrize(
    ("p", "q", "ratio"),
    [
        ((0.5, 0.5), (0.25, 0.75), (math.log(2), math.log(2 / 3))),
        ((0.5, 0), (0, 0), (INF, 0)),
        ((0,), (1,), (-INF,)),
    ],
)
def test_ratios_of_atoms(p, q, ratio):
    assert limits.log_ratio(logs(*p), logs(*q)).tolist() == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("p", "q", "epsilon", "delta"),
    [
        ((0.5, 0.5), (0.25, 0.75), 0.0, 0.25),
        ((0.5, 0.5), (0.25, 0.75), math.log(1.5), 0.5 - 1.5 * 0.25),
        ((0.5, 0.5), (0.25, 0.75), math.log(2), 0.0),
        ((0.5, 0.5), (0.25, 0.75), -math.log(2), 0.5),
        ((0.1, 0.9), (0.0, 1.0), 1.0, 0.1),
        ((0.0, 1.0), (0.1, 0.9), 0.0, 0.1),
        ((0.0, 1.0), (0.0, 1.0), -0.5, 1 - math.exp(-0.5)),
        ((0.5,), (0.5,), 0.0, 0.0),
    ],
)
def test_what_delta_is_left(p, q, epsilon, delta):
    assert limits.hockey_stick(logs(*p), logs(*q), epsilon) == pytest.approx(delta, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "q", "delta", "epsilon"),
    [
        ((0.5, 0.5), (0.25, 0.75), 0.0, math.log(2)),
        ((0.5, 0.5), (0.25, 0.75), 0.125, math.log(1.5)),
        ((0.5, 0.5), (0.25, 0.75), 0.24, math.log(1.04)),
        ((0.5, 0.5), (0.25, 0.75), 0.25, 0.0),
        ((0.5, 0.5), (0.25, 0.75), 0.5, 0.0),
        ((0.25, 0.25, 0.5), (0.0625, 0.125, 0.8125), 0.0, math.log(4)),
        ((0.25, 0.25, 0.5), (0.0625, 0.125, 0.8125), 0.0625, math.log(3)),
        ((0.25, 0.25, 0.5), (0.0625, 0.125, 0.8125), 0.125, math.log(2)),
        ((0.25, 0.25, 0.5), (0.0625, 0.125, 0.8125), 0.2, math.log(0.3 / 0.1875)),
        ((0.25, 0.75), (0.0, 1.0), 0.125, INF),
        ((0.25, 0.75), (0.0, 1.0), 0.25, 0.0),
        ((0.25, 0.5, 0.25), (0.0, 0.25, 0.75), 0.25, math.log(2)),
        ((0.25, 0.5, 0.25), (0.0, 0.25, 0.75), 0.5, 0.0),
        ((0.25, 0.5, 0.25), (0.0, 0.25, 0.75), 0.375, math.log(0.375 / 0.25)),
        ((0.9,), (0.5,), 0.1, math.log(1.6)),  # what lacks mass need not be symmetric at 0
        ((0.5,), (0.9,), 0.1, 0.0),
    ],
)
def test_which_epsilon_is_enough(p, q, delta, epsilon):
    assert limits.epsilon_of(logs(*p), logs(*q), delta) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize(
    ("log_p", "log_q", "words"),
    [
        ([], [], "of one length"),
        ([0.0], [0.0, 0.0], "of one length"),
        ([[0.0]], [[0.0]], "of one length"),
        ([math.nan], [0.0], "log_p must contain"),
        ([math.nan, -1.0], [-1.0, -1.0], "log_p must contain"),
        ([0.0], [math.nan], "log_q must contain"),
        ([1.05e-6], [0.0], "log_p must contain"),
        ([0.0], [1.05e-6], "log_q must contain"),
        ([0.0, -1.0], [0.0, -INF], "log_p must contain"),
    ],
)
def test_what_is_no_pair_of_laws(log_p, log_q, words):
    with pytest.raises(InputError, match=words):
        limits.hockey_stick(log_p, log_q, 0.0)


@pytest.mark.parametrize(("log_p", "log_q"), [([0.0], [0.95e-6]), ([1e-6], [-1.0]), ([-INF, -1], [-1, -INF])])
def test_laws_may_lack_mass_or_round(log_p, log_q):
    assert limits.max_divergence(log_p, log_q) >= 0


# ---------------------------------------------------------------- laws of actions


def known(p, q, prefix=None, paths=None):
    prefix = [False] * len(p) if prefix is None else prefix
    paths = tuple((number + 1,) for number in range(len(p))) if paths is None else paths
    return law.ActionLaw(paths, logs(*p), logs(*q), np.array(prefix), 1)


def test_the_numbers_of_a_law():
    found = known((0.5, 0.25, 0.25), (0.25, 0.25, 0.5), [False, True, True])
    assert (found.leaves, found.remainder) == (1, (0.5, 0.75))
    assert (found.worst, found.epsilon) == (0, pytest.approx(math.log(2)))
    assert known((0.2, 0.8), (0.3, 0.7)).worst == 0
    assert known((0.8, 0.2), (0.7, 0.3)).worst == 1


@pytest.mark.parametrize(
    ("p", "q", "floor", "epsilon"),
    [
        ((0.5, 0.5), (0.25, 0.75), 0.5, math.log(2)),
        ((0.5, 0.5), (0.25, 0.75), 0.51, math.log(1.5)),
        ((0.5, 0.5), (0.25, 0.75), 0.76, 0.0),
        ((0.1, 0.1, 0.8), (0.02, 0.05, 0.93), 0.1 * (1 - 1e-9), math.log(5)),
        ((0.1, 0.1, 0.8), (0.02, 0.05, 0.93), 0.15, math.log(0.2 / 0.07)),
        ((0.02, 0.05, 0.93), (0.1, 0.1, 0.8), 0.15, math.log(0.2 / 0.07)),
        ((0.5,), (0.5,), 2.0, 0.0),  # nothing is as likely
    ],
)
def test_the_largest_ratio_of_an_event_that_is_likely_enough(p, q, floor, epsilon):
    assert known(p, q).epsilon_at(floor) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "q", "prefix", "epsilon", "wanted"),
    [
        ((0.5, 0.5), (0.25, 0.75), (False, False), 0.0, (0.25, 0.25)),
        ((0.5, 0.5), (0.25, 0.75), (False, False), math.log(1.6), (0.1, 0.1)),
        ((0.25, 0.75), (0.5, 0.5), (False, False), math.log(1.6), (0.1, 0.1)),
        ((0.5, 0.4, 0.1), (0.25, 0.45, 0.3), (False, False, True), 0.0, (0.25, 0.25 + 0.3)),
        ((0.25, 0.45, 0.3), (0.5, 0.4, 0.1), (False, False, True), 0.0, (0.25, 0.25 + 0.3)),
    ],
)
def test_bounds_on_delta(p, q, prefix, epsilon, wanted):
    assert known(p, q, prefix).delta(epsilon) == pytest.approx(wanted)


def test_the_epsilon_of_both_directions():
    for laws in (((0.5, 0.5), (0.25, 0.75)), ((0.25, 0.75), (0.5, 0.5))):
        assert known(*laws).epsilon_of(0.0) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("path", "prefix", "words"),
    [
        ((0b11, 0b1), False, "{0, 1} > {0}"),
        ((0b101,), True, "{0, 2} > ..."),
        ((0b1000,), False, "{3}"),
    ],
)
def test_a_path_in_words(path, prefix, words):
    assert known((1.0,), (1.0,), [prefix], [path]).words(0) == words


@pytest.mark.parametrize(
    ("removed", "path"),
    [(0, ()), (-1, ()), (1, (7,)), (2, (6,)), (0b100, (0b100,)), (0b111, (0b001,))],
)
def test_the_codes_of_a_path(removed, path):
    """Of a removal that we cannot follow, one more than its bit set, the survivors."""
    assert law._path((1, 7), removed) == (1, 7, *path)


# ---------------------------------------------------------------- one comparison


def compared(values=(0.0, 0.0), scales=(1.0, 1.0), margin=1.0, **more):
    """A node of arms 1 and 2 of three; NaN and no part of arm 0."""
    arms = len(values)
    parts = {"counts": [0] * arms, "slots": list(range(arms))} | more
    active = np.array([False] + [True] * arms)
    return Node(
        (1,),
        np.array([math.nan, *values]),
        np.array([math.nan, *scales]),
        np.array([5, *parts["counts"]]),
        np.array([9, *parts["slots"]]),
        active,
        margin,
    )


def tail(x):
    """P(Z - Z' > x) of two standard Laplace draws, for x >= 0."""
    return math.exp(-x) * (2 + x) / 4


@pytest.mark.parametrize(
    ("given", "chances"),
    [
        ({}, {0b010: tail(1), 0b100: tail(1), 0: 1 - 2 * tail(1)}),
        ({"margin": 0.0}, {0b010: 0.5, 0b100: 0.5}),
        ({"margin": 0.04}, {0b010: tail(0.04), 0b100: tail(0.04), 0: 1 - 2 * tail(0.04)}),
        (
            {"values": (0.5, 0.0), "margin": 2.0},
            {0b010: tail(2.5), 0b100: tail(1.5), 0: 1 - tail(2.5) - tail(1.5)},
        ),
        ({"scales": (0.0, 0.0)}, {0: 1.0}),
        ({"scales": (0.0, 0.0), "values": (2.0, 0.0)}, {0b100: 1.0}),
        ({"slots": [3, 3], "values": (2.0, 0.0)}, {0b100: 1.0}),  # one draw for both
        ({"scales": (0.0, 1.0)}, {0b010: math.exp(-1) / 2, 0b100: math.exp(-1) / 2, 0: 1 - math.exp(-1)}),
    ],
)
def test_which_arms_fall_out_of_a_comparison(given, chances):
    law._race.cache_clear()  # of what it gave with a fault
    found = {removed: math.exp(log_p) for removed, log_p in law.node_law(compared(**given)).items()}
    assert found == pytest.approx(chances, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"counts": [0, 1]}, "sums of many reports"),
        ({"counts": [2, 2]}, "sums of many reports"),
        ({"values": (0.0,) * (race.MOST_ARMS + 1), "scales": (1.0,) * (race.MOST_ARMS + 1)}, "at most"),
        ({"margin": math.inf}, "its margin must be finite and at least 0"),
        ({"margin": -0.01}, "its margin must be finite and at least 0"),
        ({"margin": math.nan}, "its margin must be finite and at least 0"),
        ({"values": (0.0, math.inf)}, "sums that are not finite"),
        ({"scales": (1.0, -0.01)}, "sums that are not finite"),
        ({"scales": (1.0, math.nan)}, "sums that are not finite"),
    ],
)
def test_what_is_not_compared(given, words):
    with pytest.raises(UnsupportedError, match=words):
        law.node_law(compared(**given))


@pytest.mark.parametrize(
    ("given", "general"),
    [
        ({}, False),
        ({"margin": 0.01}, False),
        ({"scales": (0.04, 1.0)}, False),
        ({"margin": 0.0}, True),
        ({"scales": (0.0, 1.0)}, True),
        ({"slots": [3, 3]}, True),
    ],
)
def test_where_the_formula_for_draws_of_their_own_holds(given, general):
    node, asked = compared(**given), []

    def of(name):
        def worked(values, *rest):
            asked.append(name)
            logs_ = np.log(np.full(len(race.kept_sets(2)), 1 / 3))
            return logs_ if name == "general" else (logs_, None)

        return worked

    law._race.cache_clear()
    with (
        mock.patch.object(race, "survivors", of("own")),
        mock.patch.object(race, "survivors_in_general", of("general")),
    ):
        assert len(law.node_law(node)) == len(race.kept_sets(2))
    law._race.cache_clear()
    assert asked == ["general" if general else "own"]


def test_as_many_arms_are_compared():
    arms = race.MOST_ARMS
    with mock.patch.object(law, "_race", return_value=np.zeros(len(race.kept_sets(arms)))):
        assert len(law.node_law(compared((0.0,) * arms, (1.0,) * arms))) == len(race.kept_sets(arms))


# ---------------------------------------------------------------- paths of machines


def node(codes=(3,), active=(True, True), slots=(0, 1), scales=(1.0, 1.0)):
    two = np.zeros(2)
    return Node(codes, two, np.array(scales), two.astype(int), np.array(slots), np.array(active), 1.0)


def leaf(*codes):
    return node(codes, (False, False))


def machine(nodes, children):
    return SimpleNamespace(nodes=nodes, child=lambda number, removed: children[number, removed])


def place(left, right, log_p=-1.0, log_q=-2.0, slots=()):
    return law._Place(left, right, log_p, log_q, frozenset(slots))


def test_inputs_that_part():
    same = machine([node(), leaf(3, 1)], {}), machine([node(), leaf(3, 1)], {})
    for number in (0, 1):
        assert law._parted(*same, place(number, number)) == [place(number, number)]
    apart = machine([node((3, 1))], {}), machine([node((3, 2))], {})
    ended = machine([leaf(3)], {}), machine([node((3,))], {})
    for two in (apart, ended):
        found = law._parted(*two, place(0, 0, slots=(5,)))
        assert found == [place(0, None, log_q=-INF, slots=(5,)), place(None, 0, log_p=-INF, slots=(5,))]
    for one in (place(0, None), place(None, 0)):
        assert law._parted(*apart, one) == [one]
    assert law._node(*apart, place(0, None)).codes == (3, 1)
    assert law._node(*apart, place(None, 0)).codes == (3, 2)


@pytest.mark.parametrize(
    ("changes", "before", "spent"),
    [
        ({}, (), {0, 1}),
        ({}, (2,), {0, 1, 2}),
        ({"active": (True, False)}, (1,), {0, 1}),
        ({"scales": (1.0, 0.0)}, (1,), {0, 1}),  # an exact sum draws nothing
        ({"scales": (1.0, math.nan)}, (1,), {0, 1}),
        ({"scales": (1.0, 0.04)}, (), {0, 1}),
        ({"scales": (1.0, 0.5)}, (1,), None),
        ({}, (0,), None),
    ],
)
def test_draws_that_come_again(changes, before, spent):
    if spent is None:
        with pytest.raises(UnsupportedError, match="uses a draw in two comparisons"):
            law._spent(node(**changes), frozenset(before))
    else:
        assert law._spent(node(**changes), frozenset(before)) == spent


def two(left, right, **more):
    """The law of two machines of one comparison each; the chances of what it removes by input."""
    laws = {id(side): table for side, table in ((left.nodes[0], left.laws), (right.nodes[0], right.laws))}
    for side in (left, right):
        for one in side.nodes[1:]:
            laws.setdefault(id(one), side.laws)
    with mock.patch.object(law, "node_law", lambda one: laws[id(one)]):
        return law.law_of(left, right, **more)


def step(laws, slots=((0, 1), (2, 3)), depth=1):
    """A machine whose run ends after `depth` comparisons, each with these chances."""
    nodes = [node(slots=slots[0])]
    children = {}

    def grow(number, at):
        for removed in laws:
            codes = (*nodes[number].codes, 3 & ~removed)
            nodes.append(leaf(*codes) if at + 1 >= depth else node(codes, slots=slots[at + 1]))
            children[number, removed] = len(nodes) - 1
            if at + 1 < depth:
                grow(len(nodes) - 1, at + 1)

    grow(0, 0)
    made = machine(nodes, children)
    made.laws = {removed: math.log(chance) for removed, chance in laws.items()}
    return made


def read(found):
    return {
        (path, prefix): (pytest.approx(float(np.exp(p))), pytest.approx(float(np.exp(q))))
        for path, prefix, p, q in zip(
            found.paths, found.prefix.tolist(), found.log_p, found.log_q, strict=True
        )
    }


HERE, THERE = {0: 0.5, 1: 0.25, 2: 0.25}, {0: 0.25, 1: 0.75}


def test_the_law_of_one_comparison():
    found = two(step(HERE), step(THERE))
    assert read(found) == {
        ((3, 1), False): (0.25, 0.0),
        ((3, 2), False): (0.25, 0.75),
        ((3, 3), False): (0.5, 0.25),
    }
    assert (found.nodes, found.epsilon) == (1, INF)
    assert read(two(step(THERE), step(HERE))) == {path: (q, p) for path, (p, q) in read(found).items()}


def test_the_law_of_two_comparisons():
    found = two(step(HERE, depth=2), step(THERE, depth=2))
    assert found.nodes == 4
    assert read(found)[(3, 2, 1), False] == (0.25 * 0.25, 0.0)
    assert read(found)[(3, 2, 3), False] == (0.25 * 0.5, 0.75 * 0.25)
    assert math.fsum(np.exp(found.log_p)) == pytest.approx(1)
    assert math.fsum(np.exp(found.log_q)) == pytest.approx(1)


def test_a_draw_that_is_compared_twice_is_refused():
    with pytest.raises(UnsupportedError, match="uses a draw in two comparisons"):
        two(*[step(HERE, slots=((0, 1), (1, 2)), depth=2)] * 2)


@pytest.mark.parametrize(("cut", "followed"), [(0.2, True), (0.25, True), (0.26, True), (0.76, False)])
def test_a_path_is_followed_that_is_likely_on_one_input(cut, followed):
    """Removing arm 0 has probability .25 here and .75 there; arm 1 .25 and 0."""
    found = read(two(step(HERE), step(THERE), cut=cut))
    assert ((3, 2), not followed) in found
    assert ((3, 1), cut > 0.25) in found


def test_paths_beyond_the_number_of_comparisons_are_prefixes():
    """The likeliest is worked out first: that of which nothing falls out on the left input, .5."""
    found = two(step(HERE, depth=2), step(HERE, depth=2), most=2)
    assert found.nodes == 2
    assert read(found) == {
        ((3, 1), True): (0.25, 0.25),
        ((3, 2), True): (0.25, 0.25),
        ((3, 3, 1), False): (0.125, 0.125),
        ((3, 3, 2), False): (0.125, 0.125),
        ((3, 3, 3), False): (0.25, 0.25),
    }
    assert read(two(step(HERE), step(HERE), most=0)) == {((3,), True): (1.0, 1.0)}
    assert two(step(HERE), step(HERE), most=1).leaves == 3


def test_the_likelier_input_decides_which_path_comes_first():
    found = two(step(HERE, depth=2), step(THERE, depth=2), most=2)
    assert {path[:2] for path, prefix in read(found) if not prefix} == {(3, 2)}  # .75 on the right


def test_chances_that_round_above_1():
    found = two(step({0: 1 + 1e-12}), step({0: 1 + 1e-12}))
    assert (found.log_p.tolist(), found.log_q.tolist()) == ([0.0], [0.0])


# ---------------------------------------------------------------- what a record says


PAIR = SimpleNamespace(describe=lambda: "a pair", as_dict=lambda: {"pair": 1})
CLAIM, LOOSE = PrivacyClaim(0.5), PrivacyClaim(0.5, 0.125)


@pytest.mark.parametrize(
    ("p", "q", "claim", "wanted"),
    [
        ((0.5, 0.5), (0.25, 0.75), CLAIM, {"epsilon": math.log(2), "epsilon_at_delta": math.log(2)}),
        ((0.5, 0.5), (0.25, 0.75), LOOSE, {"epsilon": math.log(2), "epsilon_at_delta": math.log(1.5)}),
        ((0.5, 0.5), (0.25, 0.75), CLAIM, {"direction": "world 0 over world 1", "path": "{0}"}),
        ((0.25, 0.75), (0.5, 0.5), CLAIM, {"direction": "world 1 over world 0"}),
        ((1.0,), (1.0,), CLAIM, {"direction": "world 0 over world 1", "epsilon": 0.0}),
        ((0.0, 1.0), (0.25, 0.75), CLAIM, {"epsilon": "inf"}),
    ],
)
def test_what_is_said_of_a_law(p, q, claim, wanted):
    found = law.describe(4, PAIR, known(p, q), claim)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)
    assert (found["pair_number"], found["leaves"]) == (4, len(p))


def test_events_of_a_millionth_are_told_apart():
    for rare, epsilon in ((1.02e-6, math.log(2)), (0.98e-6, math.log(1.02 / 0.98))):
        rest = 1 - 2 * rare
        found = law.describe(0, PAIR, known((rare, rare, rest), (rare / 2, rare, rest + rare / 2)), CLAIM)[
            "epsilon_at_1e-6"
        ]
        assert (found > 0.6) is (rare > 1e-6), epsilon


def test_delta_is_at_most_1():
    found = law.describe(0, PAIR, known((0.5, 0.5), (0.0, 1.0), [False, True]), CLAIM)
    assert (found["delta_upper"], found["remainder"]) == (1.0, 1.0)
    one = known((0.25, 0.7, 0.05), (0.2, 0.79, 0.01), [False, False, True])
    assert law.describe(0, PAIR, one, CLAIM)["remainder"] == pytest.approx(0.05)


def test_pairs_without_a_law_are_left_out():
    def of(algorithm, pair):
        if pair is not PAIR:
            raise UnsupportedError("no")
        return known((0.5, 0.5), (0.25, 0.75))

    with mock.patch.object(law, "law", of):
        assert law.check(None, [None, None], CLAIM) is None
        found = law.check(None, [None, PAIR], CLAIM)
        assert [pair["pair_number"] for pair in found.statistics["pairs"]] == [1]
        assert found.verdict == "refuted"
        told = law.counterexample(found, [None, PAIR])
        assert (told["pair"], told["event"]) == ({"pair": 1}, "actions {0}, world 0 over world 1")
        kept = law.check(None, [PAIR], PrivacyClaim(1.0))
        assert kept.verdict == "not_refuted"
    with pytest.raises(InputError, match="found must be a check that refutes, got not_refuted"):
        law.counterexample(kept, [PAIR])


def test_an_interactive_adversary_has_no_law():
    with pytest.raises(UnsupportedError, match="exact distributions are computed only for tables"):
        law.law(None, mock.Mock(spec=InteractivePair))


# ---------------------------------------------------------------- shuffled reports


def reports(scale, where=True, count=1, run=(0,), hidden=None):
    shape = np.shape(scale)
    wide = [np.broadcast_to(np.array(x), shape).copy() for x in (where, count)]
    count = None if count is None else wide[1]
    return Draw(np.zeros(shape), np.array(scale), np.array(run), np.zeros(shape, int), wide[0], count, hidden)


@pytest.mark.parametrize(
    ("draws", "scales"),
    [
        ([reports([[2.0, 1.0]])], {0: 1.0}),
        ([reports([[2.0, 1.0]], where=[[True, False]])], {0: 2.0}),
        ([reports([[2.0, 1.0]], count=[[3, 0]])], {0: 2.0}),
        ([reports([[2.0, 1.0]], count=[[2, 1]])], {0: 1.0}),
        ([reports([[2.0]]), reports([[1.0]]), reports([[3.0]])], {0: 1.0}),
        ([reports([[2.0]], where=False)], {}),
        ([reports([[2.0, 2.0]], where=[[False, True]])], {0: 2.0}),
        ([reports([[2.0]], count=None)], {0: 0.0}),  # no report's noise
        ([reports([[2.0], [1.0]], run=(4, 5))], {4: 2.0, 5: 1.0}),
        ([reports([[2.0]], hidden=Hidden(lambda shown: 0.0))], {}),
    ],
)
def test_the_least_scale_of_reports(draws, scales):
    meter = shuffle.LossMeter(lambda draw: draw.value + 7)
    for draw in draws:
        assert (meter(draw) == 7).all()
    assert meter.scales == scales


@pytest.mark.parametrize(
    ("found", "threshold", "tried"),
    [
        ((0.5,), 10.0, 1),
        ((0.1,), None, None),
        ((0.1 + shuffle._NOTHING, 0.5), 20.0, 2),
        ((0.1, 0.1, 0.5), 30.0, 3),
    ],
)
def test_the_threshold_that_tells_most(found, threshold, tried):
    asked = []

    def worst(crowd, scale, level):
        assert (crowd, scale) == (10, 1.0)
        asked.append(level)
        return found[min(len(asked), len(found)) - 1], 10.0 * len(asked)

    with mock.patch.object(shuffle.shuffle, "worst_threshold", worst):
        got = shuffle._telling(10, 1.0, 2.0, 0.1)
    assert got == (0.0 if threshold is None else threshold)
    assert len(asked) == (tried or len(shuffle._SHARES))
    assert asked[0] == shuffle._SHARES[0] * 2.0
