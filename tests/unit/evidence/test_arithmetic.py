"""The judge's arithmetic: what it accepts, and a search that lies about shifts.

What only the plain code can see, a row too few, a cheaper law, a smaller range, is in `test_replay`. Broken
variants, each seen to fail here: see `BROKEN`; besides, the cheaper direction of a maximum counts, and noise
on whole numbers moves by parts.
"""

import itertools
import json
import math
from fractions import Fraction

import jsonschema
import numpy as np
import pytest
from scipy import stats

from tests.user_code import bounded, provers
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.judge import arithmetic, certificate, laws
from verifiable_dp.evidence.judge.arithmetic import Paid, judged
from verifiable_dp.evidence.judge.certificate import (
    Corners,
    Frame,
    LinearShifts,
    MovedEntry,
    Pattern,
    TracedCertificate,
)
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.paths import explore

DELTA = 1e-5

# ---------------------------------------------------------------- laws

DENSITIES = {  # of the table of laws
    "laplace": stats.laplace,
    "logistic": stats.logistic,
    "cauchy": stats.cauchy,
    "hypsecant": stats.hypsecant,
    "exponential": stats.expon,
    "gumbel": stats.gumbel_r,
    "student": stats.t(5.0),
}


@pytest.mark.parametrize("law", DENSITIES)
def test_the_price_of_a_shift_is_the_largest_loss_over_all_outcomes(law):
    """An infinite loss needs an infinite price; and no price is far above what a small shift costs."""
    x, parameter = np.linspace(-60, 60, 240_001), 5.0 * (law == "student")
    for shift, sign in itertools.product((0.01, 0.3, 1.0, 2.5), (1.0, -1.0)):
        cost, two = laws.price(law, sign * shift, parameter)
        with np.errstate(invalid="ignore"):
            loss = np.nanmax(DENSITIES[law].logpdf(x) - DENSITIES[law].logpdf(x + sign * shift))
        assert two == 0
        assert loss <= cost + 1e-9
        assert cost == math.inf or shift > 0.02 or loss >= 0.99 * cost


def test_the_table_names_no_law_that_is_not_held_against_its_density():
    assert {*laws._LAWS, "student"} == {*DENSITIES}


def test_prices_of_normal_and_geometric_noise():
    """Normal noise by quadrature of its curve, geometric by all of its outcomes."""
    mu, epsilon = 0.8, 1.3
    assert laws.price("normal", -mu) == (0.0, mu**2)
    x = np.linspace(-12, 12, 200_001)
    p, q = stats.norm.pdf(x), stats.norm.pdf(x, mu)
    delta = np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0), x)
    assert laws.epsilon_of(0.0, mu**2, delta) == pytest.approx(epsilon, rel=1e-6)
    k, step = np.arange(1, 200), laws.parameter_of("geometric", 0.25)
    for by in (1, 3):
        loss = (stats.geom.logpmf(k, 0.25) - stats.geom.logpmf(k + by, 0.25)).max()
        assert laws.price("geometric", float(by), step)[0] == pytest.approx(loss)
        two = stats.dlaplace(0.7).logpmf(np.arange(-150, 150 + by))
        loss = (two[by:] - two[:-by]).max()
        assert laws.price("two_sided_geometric", -float(by), 0.7)[0] == pytest.approx(loss)
    for shift, parameter in ((-1.0, step), (0.5, step), (1.0, 0.0)):
        assert laws.price("geometric", shift, parameter) == (math.inf, 0.0)
    assert laws.price("two_sided_geometric", 0.5, 0.7) == (math.inf, 0.0)
    assert laws.price("student", 1.0) == laws.price("no law", 1.0) == (math.inf, 0.0)
    assert laws.price("no law", 0.0) == (0.0, 0.0)


# ---------------------------------------------------------------- single rows

LAPLACE = Frame((("laplace", 0.0),), (("=", ((0, 2.0),)),))
ONE = MovedEntry(0.0, 1.0, ((0, 1.0),))
HIDES = LinearShifts(((0, 0.0, ((0, -0.5),)),))


def pattern(frame=LAPLACE, entries=(ONE,), up=HIDES, down=HIDES, otherwise=None):
    return arithmetic.both(frame, Pattern(0, entries, up, down, otherwise))


def test_a_sum_with_noise_costs_what_its_noise_has_to_move():
    assert pattern() == (Paid(0.5), Paid(0.5))
    ends = (Corners(((), ((0, -0.5),))), Corners((((0, 0.5),), ())))
    assert pattern(up=ends[0], down=ends[1]) == (Paid(0.5), Paid(0.5))


@pytest.mark.parametrize(
    "up",
    [
        LinearShifts(((0, 0.0, ((0, 0.5),)),)),  # one sign off
        LinearShifts(((0, 0.0, ((0, -0.5 + 1e-8),)),)),
        LinearShifts(((0, 1e-9, ((0, -0.5),)),)),
        LinearShifts(),
        Corners(((), ((0, 0.5),))),
        Corners(((), ())),
        Corners((((0, 1e-9),), ((0, -0.5),))),
    ],
)
def test_a_shown_number_may_not_move(up):
    with pytest.raises(InputError, match="row 0 moves"):
        pattern(up=up)


def test_a_comparison_may_rise_and_not_fall_whichever_way_it_came_out():
    frame = Frame((("laplace", 0.0),), ((">", ((0, 2.0),)),))
    rises, falls = LinearShifts(((0, 0.5, ()),)), LinearShifts(((0, -0.5, ()),))
    right = {"frame": frame, "up": LinearShifts(), "down": rises, "otherwise": (falls, LinearShifts())}
    assert pattern(**right) == (Paid(0.5), Paid(0.5))
    # The other answer, turned: its lead falls if the unit rises, and noise has to go down.
    for wrong in ({"down": LinearShifts()}, {"down": falls}, {"otherwise": (LinearShifts(), LinearShifts())}):
        with pytest.raises(InputError, match="falls below 0"):
            pattern(**{**right, **wrong})
    assert pattern(**{**right, "up": rises, "otherwise": (falls, falls)}) == (Paid(0.5), Paid(0.5))


def test_a_maximum_counts_its_dearer_direction():
    rows = ((">", ((0, 1.0), (1, -1.0))), (">", ((0, 1.0), (2, -1.0))))
    winner = MovedEntry(0.0, 1.0, ((0, 1.0), (1, 1.0)))
    draws = (("exponential", 0.0),) * 3
    up, down = LinearShifts(), LinearShifts(((0, 1.0, ()),))
    for maximum, paid in ((True, Paid(1.0)), (False, Paid())):
        assert pattern(Frame(draws, rows, maximum), (winner,), up, down) == (paid, Paid(1.0))


def test_noise_on_whole_numbers_moves_by_whole_numbers():
    step = laws.parameter_of("geometric", 0.25)
    frame = Frame((("geometric", step), ("geometric", step)), (("=", ((0, 1.0), (1, -1.0))),))
    whole, part = MovedEntry(0.0, 2.0, ((0, 1.0),), True), MovedEntry(0.0, 2.0, ((0, 1.0),))
    ways = LinearShifts(((1, 0.0, ((0, 1.0),)),)), LinearShifts(((0, 0.0, ((0, -1.0),)),))
    assert pattern(frame, (whole,), *ways)[0].loss == pytest.approx(2 * step)
    ends = Corners(((), ((1, 2.0),))), Corners((((0, 2.0),), ()))
    assert pattern(frame, (whole,), *ends)[1].loss == pytest.approx(2 * step)
    for entries, shifts in (((part,), ways), ((part,), ends), ((whole, whole), ways)):
        with pytest.raises(InputError):
            pattern(frame, entries, *shifts)
    half = Frame(frame.draws, (("=", ((0, 2.0), (1, -2.0))),))  # a step of the noise hides two of the data
    halves = Corners(((), ((1, 1.0),))), Corners((((0, 1.0),), ()))
    with pytest.raises(InputError, match="whole numbers"):
        pattern(half, (whole,), *halves)


def test_what_lies_between_corners_is_hidden_as_well():
    """By the average of their shifts, of one entry by a part of the way."""
    rng, entries = (
        np.random.default_rng(3),
        (MovedEntry(-1.0, 2.0, ((0, 1.0),)), MovedEntry(0.5, 1.0, ((0, 2.0),))),
    )
    values = tuple(((0, -a - 2 * b + 0.0),) for a, b in arithmetic.corners(entries))
    for _ in range(50):
        deltas = [float(rng.uniform(one.low, one.high)) for one in entries]
        found = arithmetic.moved(entries, Corners(values), deltas)
        assert found[0] == pytest.approx(-deltas[0] - 2 * deltas[1])
    one = Corners((((0, 1.0),), ((0, -2.0),)))
    for delta, shift in ((-1.0, 1.0), (1.0, -1.0), (0.0, 0.0)):
        assert arithmetic.moved(entries[:1], one, [delta]).get(0, 0.0) == shift


# ---------------------------------------------------------------- certificates of right programs


def explored(function):
    if function.__module__ == provers.__name__:
        moves, _ = provers.RIGHT.get(function, (provers.ONE, 0))
        units = {i: [(i if moves == provers.ONE else 0, -1.0, 1.0)] for i in range(5)}
        return explore(Program(function, (5,), (-math.inf, math.inf), units), 5, most=4)
    return explore(Program(function, (12, 2), (0.0, 1.0)), 2, most=4)


PROGRAMS = [
    bounded.noisy_max_laplace,
    bounded.gumbel_max,
    bounded.sparse_vector,
    bounded.two_budgets,
    bounded.counts_of_successes,
    bounded.discounted,
    bounded.response_of_reals,
    provers.smart_sum,
    provers.noisy_max,
    provers.gap_sparse_vector,
    provers.sum_gaussian,
]


@pytest.fixture(scope="module")
def certificates():
    """Of right programs, with the epsilon at `DELTA`."""
    made = [explored(program).bound(DELTA) for program in PROGRAMS]
    assert all(made)
    return [(dict(bound.certificate), bound.epsilon) for bound in made]


def test_certificates_fit_their_schema_and_say_what_was_found(certificates):
    schema = json.loads(json.dumps(certificate.schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert certificates
    for values, epsilon in certificates:
        jsonschema.validate(values, schema)
        found = TracedCertificate.of(values)
        assert found.as_dict() == values
        assert judged(found, DELTA) == epsilon
        assert sum(arithmetic.counted(found)) > 0


def test_older_certificates_are_refused_with_one_line():
    old = {"form": "paths", "paths": [{"path": 0, "unit": 0, "terms": [[3, 0.5, 0.0]]}]}
    with pytest.raises(InputError, match="version must be 1, got None; older ones add up costs") as error:
        TracedCertificate.of(old)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["frames"][0]["draws"].clear(),
        lambda c: c["frames"][0]["rows"].clear(),
        lambda c: c["frames"][0]["rows"][0].__setitem__(0, "<"),
        lambda c: c["patterns"][0].__setitem__("frame", 99),
        lambda c: c["patterns"][0]["entries"][0].__setitem__(0, 2.0),  # least above most
        lambda c: c["patterns"][0]["entries"][0].__setitem__(0, math.nan),
        lambda c: c["patterns"][0]["entries"][0].__setitem__(1, math.inf),
        lambda c: c["patterns"][0].pop("up"),
        lambda c: c["patterns"][0].__setitem__("more", 1),
        lambda c: c["profiles"][0]["groups"].append([99, 1, 1]),
        lambda c: c["profiles"][0]["groups"].append([0, 1, 0]),
        lambda c: c["profiles"][0]["groups"].append([0, 1, -1]),
        lambda c: c["profiles"][0].__setitem__("charges", [{"what": "law", "line": 1, "up": -1.0}]),
        lambda c: c["profiles"][0].__setitem__("charges", [{"what": "hope", "line": 1, "up": 1.0}]),
        lambda c: c["paths"][0]["units"].append([0, [0]]),
        lambda c: c["paths"][0]["units"].append([99, [77]]),
        lambda c: c.__setitem__("version", 2),
        lambda c: c.__setitem__("frames", 3),
    ],
)
def test_what_is_no_certificate_is_refused_with_one_line(change, certificates):
    values = json.loads(json.dumps(certificates[0][0]))
    change(values)
    with pytest.raises(InputError, match="certificate: ") as error:
        judged(TracedCertificate.of(values), DELTA)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- the liar


def numbers_in(value, path=()):
    """Places of numbers in nested lists."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers_in(item, (*path, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            yield from numbers_in(item, (*path, key))
    elif isinstance(value, float):
        yield path


def at(value, path):
    for key in path:
        value = value[key]
    return value


def alone(values):
    """Certificates of one pattern each, as text, from larger ones."""
    found = {}
    for one in (one for each in values for one in each["patterns"]):
        frame = next(c["frames"][one["frame"]] for c in values if one in c["patterns"])
        made = {"form": "paths", "version": 1, "frames": [frame], "patterns": [{**one, "frame": 0}]}
        made |= {"profiles": [{"groups": [[0, 1, 1]]}], "paths": [{"path": 0, "units": [[0, [0]]]}]}
        found[json.dumps(made)] = None
    return [text for text in found if len(text) < 2000]


def lie(rng, text):
    """A certificate with another shift."""
    made = json.loads(text)
    (one,) = made["patterns"]
    shifts = [("up",), ("down",), *((("otherwise", 0), ("otherwise", 1)) if "otherwise" in one else ())]
    way = shifts[int(rng.integers(len(shifts)))]
    places = [*numbers_in(at(one, way))]
    kind = int(rng.integers(6))
    if kind == 0 or not places:  # those of another direction, or none
        other = shifts[int(rng.integers(len(shifts)))]
        copy = json.loads(json.dumps(at(one, other)))
        at(one, way[:-1])[way[-1]] = {"type": "linear"} if rng.random() < 0.5 else copy
    elif kind == 1:  # one term less
        held = at(one, way)
        if held["type"] == "corners":
            held = {"terms": held["values"][int(rng.integers(len(held["values"])))]}
        if held["terms"]:
            del held["terms"][int(rng.integers(len(held["terms"])))]
    elif kind == 2:  # one corner less, or one term twice
        held = at(one, way)
        held = held["values" if held["type"] == "corners" else "terms"]
        if rng.random() < 0.5:
            held.append(held[0])
        else:
            del held[int(rng.integers(len(held)))]
    else:
        place = places[int(rng.integers(len(places)))]
        into, number = at(at(one, way), place[:-1]), at(at(one, way), place)
        lies = (-number, 0.5 * number, 2 * number, number + 1e-6, 0.0, number + float(rng.normal()))
        into[place[-1]] = lies[int(rng.integers(len(lies)))]
    return made


LOGS = {  # logarithms of densities; of the laws of these programs
    "laplace": lambda x: -np.abs(x),
    "logistic": lambda x: -x - 2 * np.log1p(np.exp(-x)),
    "gumbel": lambda x: -x - np.exp(-x),
}
OUTCOMES = np.array([-30.0, -7.0, -1.0, -0.1, 0.0, 0.1, 1.0, 7.0, 30.0])


def lost(law, parameter, shift):
    """What a shift costs at some outcomes, and as a square."""
    if law == "normal" or not shift:
        return 0.0, shift**2
    if law == "two_sided_geometric":
        return (abs(shift) * parameter if shift.is_integer() else math.inf), 0.0
    return float((LOGS[law](OUTCOMES) - LOGS[law](OUTCOMES + shift)).max()), 0.0


def holds(frame, entries, shifts, paid, rng):
    """Whether changes are hidden at the cost that is said, by fractions and densities, not by the judge."""
    columns = [dict(one.weights) for one in entries]
    corners = [*itertools.product(*((one.low, one.high) for one in entries))]
    for _ in range(2):
        deltas = list(corners[int(rng.integers(len(corners)))])
        moves = {}
        if isinstance(shifts, LinearShifts):
            for draw, constant, by in shifts.terms:
                moves[draw] = Fraction(constant) + sum(Fraction(w) * Fraction(deltas[e]) for e, w in by)
        else:
            moves = {draw: Fraction(by) for draw, by in shifts.values[corners.index(tuple(deltas))]}
        for row, (relation, noise) in enumerate(frame.rows):
            parts = [Fraction(c.get(row, 0.0)) * Fraction(d) for c, d in zip(columns, deltas, strict=True)]
            parts += [Fraction(weight) * moves.get(draw, Fraction(0)) for draw, weight in noise]
            slack = Fraction(2e-9) * sum(map(abs, parts))
            if sum(parts) < -slack or (relation == "=" and sum(parts) > slack):
                return False
        each = [lost(*frame.draws[draw], float(shift)) for draw, shift in moves.items()]
        loss, squared = (math.fsum(part) for part in zip(*each, strict=True)) if each else (0.0, 0.0)
        if loss > paid.loss * (1 + 1e-9) + 1e-9 or squared > paid.squared * (1 + 1e-9) + 1e-9:
            return False
    return True


def wrong_ones(number, seed, certificates):
    """Lies that are accepted although they are wrong, and how many are refused."""
    rng, accepted, refused = np.random.default_rng(seed), 0, 0
    texts = alone([values for values, _ in certificates])
    for _ in range(number):
        try:
            found = TracedCertificate.of(lie(rng, texts[int(rng.integers(len(texts)))]))
            ((frame,), (one,)) = found.frames, found.patterns
            paid = arithmetic.both(frame, one)
        except InputError:
            refused += 1
            continue
        turned = tuple(entry.turned() for entry in one.entries)
        sides = [(frame, one.entries, one.up, paid[0]), (frame, turned, one.down, paid[1])]
        if one.otherwise is not None:
            sides += [
                (frame.turned(), tuple(entry.negated() for entry in entries), shifts, cost)
                for entries, shifts, cost in zip((one.entries, turned), one.otherwise, paid, strict=True)
            ]
        accepted += not all(holds(*side, rng) for side in sides)
    return accepted, refused


def test_no_lie_about_shifts_of_twenty_thousand_is_accepted(certificates):
    accepted, refused = wrong_ones(20_000, 1, certificates)
    assert accepted == 0
    assert 10_000 < refused < 20_000


@pytest.mark.slow
def test_no_lie_about_shifts_of_a_million_is_accepted(certificates):
    assert wrong_ones(1_000_000, 2, certificates)[0] == 0


def never(*args):
    return ""


def one_end(real):
    """The ends of a range, of which one counts."""

    def broken(constant, by, entries):
        low, _ = real(constant, by, entries)
        return low, low

    return broken


BROKEN = {
    "no row is looked at": ("_moves_linearly", never),
    "no row is looked at in corners": ("_moves_at_corners", never),
    "a tolerance of a tenth": ("TOLERANCE", 0.1),
    "a price of one half": (
        "priced",
        lambda frame: lambda draw, by: tuple(p / 2 for p in laws.price(*frame.draws[draw][:1], by)),
    ),
    "the other answer may do as it likes": ("_checked", None),
    "one end of a range counts": ("_range", one_end(arithmetic._range)),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_judge_that_is_less_particular_accepts_lies(broken, certificates, monkeypatch):
    name, instead = BROKEN[broken]
    if instead is None:
        real = arithmetic._checked

        def instead(frame, entries, shifts):
            try:
                return real(frame, entries, shifts)
            except InputError:
                if frame.is_compared:
                    return Paid()
                raise

    monkeypatch.setattr(arithmetic, name, instead)
    assert wrong_ones(2000, 1, certificates)[0] > 0
