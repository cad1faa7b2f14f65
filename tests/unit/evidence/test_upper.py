"""Upper bounds follow from their certificates, and acquit within the claim while their premises hold."""

import json
import math
import sys
import types
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import verifiable_dp as vdp
from tests.committed import REPORTS
from tests.records import read_all
from verifiable_dp.algorithms import Elimination
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.tree_sum import TreeSum
from verifiable_dp.auditing import asking
from verifiable_dp.core import claims, plugins
from verifiable_dp.core.claims import PrivacyClaim
from verifiable_dp.core.mechanisms import Laplace
from verifiable_dp.core.neighbours import TablePair
from verifiable_dp.core.noise import Draw
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence import check as checking
from verifiable_dp.evidence.alignment.replay import TOLERANCE
from verifiable_dp.evidence.alignment.searching import examine
from verifiable_dp.evidence.certify import certificate
from verifiable_dp.evidence.check import Check, Kind, in_words, judged
from verifiable_dp.evidence.doors import ours
from verifiable_dp.evidence.premises import Premise, Taken
from verifiable_dp.evidence.upper import (
    LARGEST,
    Method,
    UpperBound,
    condensed,
    evaluated,
    examined,
    unfounded,
)
from verifiable_dp.record import conclude
from verifiable_dp.record.decision import Decision
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry.wrapped import AlteredNoise, Prefix
from verifiable_dp.selfcheck import mutation

REPLAYED = Premise(Taken.POST_PROCESSING, tested_by="alignment")


def sums(*states):
    rows = [{"state": str(number), "terms": list(terms)} for number, terms in enumerate(states)]
    return {"form": "sums", "states": rows}


def bound(certificate, *premises, **others):
    return UpperBound.of(certificate, method=Method.STATES, premises=premises, **others)


def alignment(verdict="not_refuted", **result):
    numbers = {"epsilon": 1.0, "visible": True, "max_cost": 1.0}
    return {
        "name": "alignment",
        "kind": "alignment",
        "statistics": numbers,
        "result": {"verdict": verdict, "epsilon_lower": 0.5, **result},
    }


@pytest.mark.parametrize(
    ("states", "epsilon"),
    [
        ([], 0.0),
        ([[[1, 2, 1]]], 0.5),
        ([[[1, 2, 1], [1, 4, 2]], [[1, 2, 1]]], 1.0),
        ([[[1, 0, 1]]], math.inf),
        ([[[0, 0, 1]], [[1, 0, 0]]], 0.0),
    ],
)
def test_the_largest_sum_of_costs_counts(states, epsilon):
    assert bound(sums(*states)).epsilon == epsilon
    assert bound(sums(*states)).check(PrivacyClaim(1.0)).result["epsilon_upper"] == (
        epsilon if math.isfinite(epsilon) else "inf"
    )


@pytest.mark.parametrize(
    "certificate",
    [
        {"form": "hearsay"},
        {},
        sums([[-1, 1, 1]]),
        sums([[1, -1, 1]]),
        {"form": "digest", "epsilon": -1},
    ],
)
def test_what_gives_no_epsilon_is_refused(certificate):
    with pytest.raises(InputError, match="certificate"):
        evaluated(certificate, 0.0)


def test_a_bound_says_what_its_certificate_gives():
    with pytest.raises(InputError, match="epsilon must be the certificate's epsilon"):
        UpperBound(0.4, 0.0, "certified", None, Method.STATES, (), sums([[1, 2, 1]]))
    with pytest.raises(InputError, match="scope must be"):
        bound(sums(), scope="always")
    with pytest.raises(InputError, match="method must be one of"):
        UpperBound.of(sums(), method="guesswork", premises=())
    with pytest.raises(InputError, match="premise must be one of"):
        Premise("hearsay")


def traced(units=1, **more):
    """Of one path, on which a sum with Laplace noise of scale 2 is shown."""
    shifts = [{"type": "linear", "terms": [[0, 0.0, [[0, -0.5]]]]}] * 2
    pattern = {"frame": 0, "entries": [[0.0, 1.0, [[0, 1.0]], False]], "up": shifts[0], "down": shifts[1]}
    return {
        "form": "paths",
        "version": 1,
        "frames": [{"draws": [["laplace", 0.0]], "rows": [["=", [[0, 2.0]]]]}],
        "patterns": [pattern],
        "profiles": [{"groups": [[0, 7, 1]]}],
        "paths": [{"path": 0, "units": [[0, list(range(units))]]}],
        **more,
    }


def tracing(certificate):
    return UpperBound.of(certificate, method=Method.TRACING, premises=(), scope="every path", paths=1)


def test_a_bound_of_traced_code_is_the_judges():
    """An older one, or one of another form, adds up costs that somebody wrote down."""
    assert tracing(traced()).epsilon == 0.5
    with pytest.raises(InputError, match="certificate must be of the form paths for tracing"):
        tracing(sums([[1, 2, 1]]))
    with pytest.raises(
        InputError, match="version must be 1, got None; older versions do not verify the costs"
    ):
        tracing({"form": "paths", "paths": [{"path": 0, "unit": 0, "terms": [[7, 0.5, 0.0]]}]})
    wrong = traced()
    wrong["patterns"][0]["up"]["terms"] = [[0, 0.0, [[0, 0.5]]]]
    with pytest.raises(InputError, match="certificate: constraint 0 changes"):
        tracing(wrong)
    assert "form paths" in unfounded(
        {**tracing(traced()).check(PrivacyClaim(1.0)).statistics, "premises": FOUNDED, "certificate": sums()}
    )


FOUNDED = [
    {"id": str(taken), "values": {}, "tested_by": ""}
    for taken in (Taken.NO_STATE, Taken.AS_TRACED, Taken.IDEAL_NOISE_OF_CODE)
]


def test_a_record_holds_a_certificate_whole_or_by_its_digest():
    small = tracing(traced(calls=[1])).check(PrivacyClaim(1.0))
    assert small.statistics["certificate"] == traced(calls=[1])
    words = (
        "epsilon at most 0.5 if its premises hold (every path, by tracing with any rewards within the "
        "bounds; 1 row of the proof {}), "
    )
    assert in_words(small) == words.format("checked") + "claimed 1"
    assert condensed(small.as_dict()) == small.as_dict()
    whole = tracing(traced(LARGEST // 4, calls=[1])).check(PrivacyClaim(1.0))
    large = Check.read(condensed(whole.as_dict()))
    held = large.statistics["certificate"]
    assert len(json.dumps(held)) < 300
    assert (held["form"], held["of"], held["calls"], held["rows"]) == ("digest", "paths", [1], 1)
    assert large.result == whole.result == small.result
    with pytest.raises(InputError, match="sent an upper bound without its certificate"):
        condensed(large.as_dict())
    assert in_words(large) == words.format("not checked (the record has only a digest)") + "claimed 1"
    assert unfounded({**large.statistics, "premises": FOUNDED, "certificate": {**held, "calls": []}}) != ""
    other = condensed(tracing(traced(LARGEST // 4 + 1, calls=[1])).check(PrivacyClaim(1.0)).as_dict())
    assert other["statistics"]["certificate"]["sha256"] != held["sha256"]


def test_what_was_checked_is_told():
    """Replays need a rerun; of other bounds there is nothing to tell."""
    statistics = tracing(traced()).check(PrivacyClaim(1.0)).statistics
    assert examined(statistics) == "1 row of the proof checked, replays not repeated"
    founded = examined({**statistics, "premises": [*FOUNDED, {**FOUNDED[0], "tested_by": "tracing"}]})
    assert founded == "1 row of the proof checked, 3 of 4 assumptions untested, replays not repeated"
    assert examined(statistics, rerun=True).endswith("replays repeated")
    assert examined(bound(sums()).check(PrivacyClaim(1.0)).statistics) == ""


def test_it_is_judged_again_from_its_certificate():
    check = bound(sums([[1, 1, 1]]), REPLAYED, paths=3, scope="n paths").check(PrivacyClaim(1.0))
    assert check.result == {"verdict": "not_refuted", "epsilon_upper": 1.0}
    dearer = {**check.statistics, "certificate": sums([[1.01, 1, 1]])}
    assert judged(check.kind, dearer) == {"verdict": "inconclusive", "epsilon_upper": 1.01}
    assert (
        in_words(Check.read(check.as_dict()))
        == "epsilon at most 1 if its premises hold (3 paths, by unfolding all public states), claimed 1"
    )


def test_it_acquits_within_the_claim_and_only_while_its_premises_hold():
    within = bound(sums([[1, 1, 1]]), REPLAYED).check(PrivacyClaim(1.0)).as_dict()
    above = bound(sums([[2, 1, 1]]), REPLAYED).check(PrivacyClaim(1.0)).as_dict()
    for checks, verdict, epsilon in (
        ([alignment(), within], "not_refuted", 1.0),
        ([alignment(), above], "inconclusive", 2.0),
        ([alignment(), above, {**within, "name": "another"}], "not_refuted", 1.0),
        ([alignment("refuted"), within], "refuted", None),
        ([alignment("inconclusive"), within], "inconclusive", None),
        ([alignment(holds=False), within], "inconclusive", None),
        ([within], "inconclusive", None),
    ):
        found = conclude.epsilon_upper(read_all(checks))
        assert (found and found.epsilon) == epsilon
        assert conclude.privacy(read_all(checks)) == verdict


# Certificates: equal to the closed forms, never below a cost that was seen, and never granted to a breach.
# The negative control of them all is `test_no_breach_is_certified`: the mutants of the suite, with the
# epsilon that the committed kill table knows of each.


KILLED = Path(__file__).parents[3] / "reports" / "mutants.json"
PRIVATE = [name for name in registry.names() if registry.auditor(name).worst_cost]
SLOWEST = ("dp-nas", "dp-robust-ucb")
DEAR = ("adaptive-tree", "dp-nas", "dp-exponential-nas", "dp-robust-ucb", "dp-robust-elimination")


def made(name, printed=False):
    auditor = registry.auditor(name)
    return auditor.algorithm(**(auditor.printed_instance if printed else auditor.instance))


def bound_of_certify(algorithm):
    return certificate(algorithm, algorithm.claim, "alignment")


def slow(names, dear):
    return [pytest.param(name, marks=pytest.mark.slow if name in dear else []) for name in names]


@pytest.mark.parametrize("name", slow(PRIVATE, SLOWEST))
def test_it_is_the_closed_form(name):
    algorithm, auditor = made(name), registry.auditor(name)
    found = bound_of_certify(algorithm)
    assert found.scope == "certified"
    assert found.epsilon <= algorithm.claim.epsilon * (1 + TOLERANCE)
    closed = algorithm.claim.epsilon if auditor.exact else auditor.worst_cost(algorithm)
    assert found.epsilon == pytest.approx(closed, rel=1e-9)
    assert {premise.tested_by for premise in found.premises} == {"alignment", ""}


@pytest.mark.parametrize("name", slow((n for n in PRIVATE if registry.auditor(n).printed), SLOWEST))
def test_of_a_printed_listing_it_says_what_that_costs(name):
    algorithm, auditor = made(name, printed=True), registry.auditor(name)
    found = bound_of_certify(algorithm)
    assert found.epsilon == pytest.approx(auditor.worst_cost(algorithm), rel=1e-9)
    over = found.epsilon > algorithm.claim.epsilon * (1 + 1e-6)
    assert over == (auditor.printed.expected == "refuted")


@pytest.mark.parametrize("name", slow(PRIVATE, DEAR))
def test_no_breach_is_certified(name):
    """Not one mutant whose true epsilon exceeds the claim has a bound within it, or below what is known."""
    rows = {row["name"]: row for row in json.loads(KILLED.read_text("utf-8"))["mutants"]}
    algorithm = made(name)
    limit = algorithm.claim.epsilon * (1 + TOLERANCE)
    breaches = bounded = 0
    for case in mutation.suite([name]):
        row = rows[case.name]
        known = max(float(row["closed_form"] or 0.0), float(row["at_least"]))
        found = certificate(case.mutant.make(algorithm), algorithm.claim, "alignment")
        if known > limit:
            breaches += 1
            assert found is None or found.epsilon > limit, case.name
        if found is not None and math.isfinite(known):
            bounded += 1
            assert found.epsilon >= known * (1 - 1e-9), case.name
    assert breaches >= (7 if algorithm.claim.curved else 10)  # operators work on Laplace noise alone
    assert bounded >= (2 if algorithm.claim.curved else 5)


@given(
    st.integers(2, 5),
    st.floats(0.05, 8),
    st.integers(10, 10**7),
    st.floats(1e-6, 0.9),
)
@settings(max_examples=25, deadline=None)
def test_of_any_successive_elimination(n_arms, epsilon, horizon, beta):
    found = bound_of_certify(DPSE(n_arms, epsilon, max(horizon, n_arms), beta=beta))
    assert found.epsilon <= epsilon * (1 + TOLERANCE)
    assert found.epsilon in (0.0, pytest.approx(epsilon, rel=1e-9))


@given(st.integers(2, 4), st.floats(0.1, 4), st.integers(4, 40), st.sampled_from(["split", "per-arm"]))
@settings(max_examples=10, deadline=None)
def test_of_any_tree(n_arms, epsilon, horizon, budget):
    """The closed form of trees by index, and no less than what alignment sees."""
    rule = DPUCB(n_arms, epsilon, max(horizon, n_arms), budget=budget)
    found, tree = bound_of_certify(rule), rule.mechanism
    items = rule.horizon - n_arms + 1
    assert found.epsilon == pytest.approx(items.bit_length() / tree.scale, rel=1e-9)
    table = np.zeros((rule.horizon, n_arms))
    seen = examine(rule, TablePair(table, 0, 0, 1.0, (0.0, 1.0)), seed=0, runs=4)
    assert seen.cost <= found.epsilon * (1 + TOLERANCE)


def test_a_group_pays_for_each_of_its_events():
    rule = TreeSum(1.0, 8)
    found = certificate(rule, claims.group(rule.claim, 3), "alignment")
    assert found.epsilon == pytest.approx(3.0, rel=1e-9)


def test_what_cannot_be_enumerated_is_not_certified():
    """More arms, blocks or states than are tried: no bound is better than one that was not computed."""
    assert bound_of_certify(DPSE(11, 1.0, 10**6)) is None
    assert bound_of_certify(TreeSum(1.0, 513)) is None
    turn = np.pi * np.arange(5) / 5
    actions = tuple(zip(np.cos(turn).tolist(), np.sin(turn).tolist(), strict=True))
    assert bound_of_certify(DPLinear(actions, 1.0, 1000)) is not None


# A certificate is of this package's own code: that of others may do otherwise where nothing was forced.


@dataclass(frozen=True)
class Rule(Elimination):
    """An elimination of the user's, right at epsilon 1."""

    n_arms: int = 2
    epsilon: float = 1.0
    horizon: int = 200
    name: ClassVar[str] = "rule"

    @property
    def claim(self):
        return PrivacyClaim(self.epsilon, observe="releases")

    def pulls(self, size, epoch):
        return 4.0**epoch

    def gap(self, size, epoch):
        hoeffding = np.sqrt(np.log(32 * epoch**2) / (2 * 4.0**epoch))
        return 2 * (hoeffding + np.log(16 * epoch**2) / (4.0**epoch * self.epsilon))

    def mechanism(self, size, epoch):
        return Laplace(1.0, self.epsilon)


class ScaleOfTheMean(Rule):
    """Sums whose mean lies in a range that no forced reward reaches get a hundredth of the noise."""

    def release(self, state, memory, query, answer, noise):
        slot, where = self.addresses(state, query)
        mean = answer / np.maximum(query.pulls(), 1)
        scale = np.where((mean > 0.62) & (mean < 0.9) & (state.epoch[:, None] > 1), 0.01, 1.0)
        return memory, noise(Draw(answer, scale, state.run, slot, where))


class RareRelease(Rule):
    """After a release in a range of chance 1 % the second epoch has a hundredth of the noise."""

    def decide(self, state, query, released):
        after = super().decide(state, query, released)
        lucky = np.isclose(np.nan_to_num(released[:, 0]) % 1.0, 0.123, atol=0.0005)
        return replace(after, epoch=np.where(lucky & (after.epoch < 3), after.epoch + 6, after.epoch))

    def pulls(self, size, epoch):
        return np.where((epoch > 6) & (epoch < 9), 4.0, 4.0**epoch)

    def release(self, state, memory, query, answer, noise):
        slot, where = self.addresses(state, query)
        scale = np.where(state.epoch[:, None] > 6, 0.01, 1.0) * np.ones(answer.shape)
        return memory, noise(Draw(answer, scale, state.run, slot, where))


class RareMechanism(Rule):
    """One call in many gives a mechanism with less noise."""

    calls: ClassVar[list] = []

    def mechanism(self, size, epoch):
        self.calls.append(1)
        return Laplace(1.0, self.epsilon if len(self.calls) % 997 else 100.0)


@pytest.mark.parametrize("kind", [ScaleOfTheMean, RareRelease])
def test_leaks_of_the_framework_s_form_are_not_certified(kind):
    """Both were certified at epsilon 1; their true epsilon is 100."""
    report = vdp.audit(kind(), budget="smoke")
    assert report.record["epsilon_upper"] is None
    assert report.verdict == "refuted"


def test_a_right_class_of_a_user_is_not_refuted_and_says_why_it_has_no_certificate():
    """Its scope of every run was as little known as that of the leaks beside it."""
    report = vdp.audit(Rule(), budget="smoke")
    assert (report.verdict, report.record["epsilon_upper"]) == ("not_refuted", None)
    assert "own-classes" in [left["id"] for left in report.record["not_covered"]]


def test_code_of_others_is_known_by_its_objects(monkeypatch):
    """Neither a class's module nor its name counts; control: all of the catalogue is this package's own."""
    for name in registry.every():
        auditor = registry.auditor(name)
        assert ours(auditor.algorithm(**auditor.instance)), name
    assert ours(Prefix(TreeSum(1.0, 8), 4))
    assert not ours(Prefix(Rule(), 4))
    assert not ours(RareMechanism())
    assert not ours(AlteredNoise(TreeSum(1.0, 8), reslot=lambda slot: slot))
    computing = type("Epsilon", (np.float64,), {"__rtruediv__": lambda self, other: 1e-9})
    assert not ours(DPSE(2, computing(1.0), 100))
    assert not ours([np.array([computing(1.0)], dtype=object)])
    assert ours([np.ones(2), np.float64(1.0), np.bool_(True)])
    same = type(
        "DPSE", (DPSE,), {"__module__": DPSE.__module__, "release": Rule.release, "query": DPSE.query}
    )
    assert not ours(same(2, 1.0, 100))  # what others put together, if only of our own functions
    forged = type("DPSE", (DPSE,), {"__module__": DPSE.__module__, "release": ScaleOfTheMean.release})
    assert not ours(forged(2, 1.0, 100))
    rule = DPSE(2, 1.0, 100)
    assert certificate(rule, rule.claim, "alignment") is not None
    monkeypatch.setattr(DPSE, "release", ScaleOfTheMean.release)
    assert certificate(rule, rule.claim, "alignment") is None
    monkeypatch.undo()
    object.__setattr__(rule, "release", ScaleOfTheMean().release)
    assert certificate(rule, rule.claim, "alignment") is None


def test_code_without_a_file_is_no_generated_code(monkeypatch):
    """Broken variant: all functions that have none count as written by a dataclass, under whatever name."""
    names = vars(sys.modules[DPSE.__module__])
    code = next(
        one
        for one in compile("def release(self, *given):\n    return 0.0\n", "<string>", "exec").co_consts
        if isinstance(one, types.CodeType)
    )
    rule = DPSE(2, 1.0, 100)
    assert ours(rule)
    monkeypatch.setattr(DPSE, "release", types.FunctionType(code, names))
    assert not ours(rule)


def own_mechanism(self):
    return RareMechanism()


@pytest.mark.parametrize(
    "made",
    [
        lambda names: types.FunctionType(own_mechanism.__code__, names),
        lambda names: types.FunctionType(DPSE.mechanism.__code__, {**names}),
        lambda names: types.FunctionType(DPSE.mechanism.__code__, names, argdefs=(RareMechanism(),)),
        lambda names: DPSE.release,
    ],
)
def test_an_object_does_what_its_class_does(made):
    """Code of others with our globals, ours with those of others, another default, another method of ours."""
    rule = DPSE(2, 1.0, 100)
    object.__setattr__(rule, "mechanism", made(vars(sys.modules[DPSE.__module__])))
    assert not ours(rule)


class Quiet:
    """A mechanism that adds no noise; the one below is no function, and has none either."""

    def __init__(self, *given):
        pass

    def release(self, value, noise, run, slot, where):
        return value


class Given:
    """A descriptor, which cannot be called."""

    def __get__(self, rule, kind=None):
        return Quiet


@pytest.mark.parametrize(
    "parts", [{"mechanism": Quiet}, {"mechanism": Given()}, {"__slots__": ("mechanism",)}, {}]
)
def test_no_class_of_others_is_certified_whatever_it_holds(parts):
    """Broken variant: only functions count, so that a class or a descriptor of others may make the noise."""
    kind = type("Mine", (DPSE,), {"__module__": __name__, **parts})
    rule = kind(2, 1.0, 100)
    if "__slots__" in parts:
        object.__setattr__(rule, "mechanism", Quiet)
    assert certificate(DPSE(2, 1.0, 100), rule.claim, "alignment") is not None
    assert certificate(rule, rule.claim, "alignment") is None
    assert asking._kind(rule) == "algorithm"


# Packages of others: what they register never takes our place, and never makes a claim stronger.


@pytest.fixture
def points(monkeypatch):
    """Registers more entry points, for this test."""
    real = plugins.entry_points

    def put(*more):
        plugins._points.cache_clear()
        monkeypatch.setattr(
            plugins,
            "entry_points",
            lambda group: [*real(group=group), *(p for p in more if p.group == group)],
        )
        monkeypatch.setattr(checking, "_KINDS", {})
        monkeypatch.setenv(plugins.ALLOWED, "tests, no-such-module")

    yield put
    plugins._points.cache_clear()


def point(name, value, group="verifiable_dp.checks"):
    return EntryPoint(name, value, group)


def test_no_package_takes_our_place(points):
    """Control: the same object registered twice is one."""
    ours = checking.kind_of("black_box")
    points(point("black_box", "tests.unit.evidence.test_upper:LIAR"))
    with pytest.raises(
        InputError, match=r"^checks: 'black_box' is registered by .* and .*; uninstall the package of"
    ):
        checking.kind_of("black_box")
    points(point("black_box", "verifiable_dp.evidence.blackbox.test:BLACK_BOX"))
    assert checking.kind_of("black_box") is ours


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:KIND", "checks: no_such_module:KIND cannot be imported: "),
        (f"{__name__}:NOTHING", f"checks: {__name__}:NOTHING cannot be imported: "),
        (f"{__name__}:test_no_package_takes_our_place", "checks: .* must be the Kind 'mute', got <function"),
        (f"{__name__}:MUTE", ".*a judge and a sentence"),
    ],
)
def test_what_cannot_be_had_is_named_in_a_line(points, value, why):
    points(point("mute", value))
    with pytest.raises(InputError, match=f"^{why}") as error:
        checking.kind_of("mute")
    assert "\n" not in str(error.value)
    assert checking.kind_of("exact").name == "exact"  # what nobody asks for spoils nothing


def test_a_kind_that_nobody_registers_is_named_with_those_there_are(points):
    points(point("mute", f"{__name__}:MUTE"))
    with pytest.raises(
        InputError, match=r"^checks must be one of .*black_box.*mute.*, got 'loud'; install the"
    ):
        checking.kind_of("loud")


MUTE = Kind("mute", "privacy")
LIAR = Kind("liar", "privacy")


@LIAR.judged_by()
def _judge(numbers):
    return {"verdict": numbers["verdict"], "epsilon_lower": numbers["lower"], "detectable": 0.5}


@LIAR.worded_by
def _in_words(numbers, result):
    return "all is well"


def said(verdict, lower):
    numbers = {"verdict": verdict, "lower": lower, "epsilon": 1.0, "delta": 0.0}
    return Check.of("liar", "liar", numbers).as_dict()


def test_a_kind_of_others_speaks_against_a_claim_and_never_for_it(points):
    points(point("liar", "tests.unit.evidence.test_upper:LIAR"))
    record = json.loads((REPORTS / "dp-se" / "record.json").read_text("utf-8"))
    box = next(check for check in record["checks"] if check["kind"] == "black_box")
    blind = {**box, "result": {**box["result"], "detectable": "inf"}}
    assert conclude.conclusion(read_all([blind])) == ("inconclusive", "weak")
    assert conclude.conclusion(read_all([blind, said("not_refuted", 0.1)])) == ("inconclusive", "weak")
    assert conclude.epsilon_lower(read_all([box, said("not_refuted", 50.0)])) == conclude.epsilon_lower(
        read_all([box])
    )
    assert conclude.conclusion(read_all([box]))[0] == "not_refuted"
    assert conclude.conclusion(read_all([box, said("refuted", 2.0)]))[0] == "refuted"


def test_what_audited_nothing_passed_nothing():
    from verifiable_dp.core.units import Role

    assert Decision(None, None, "none", None, None, Role.USER, 1.0, (), 0, ()).result == "undecided"
