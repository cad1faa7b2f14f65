"""Sheets: words and settings in TOML beside the code of an auditor."""

import math
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.trials import on_trial
from verifiable_dp import make
from verifiable_dp.algorithms import dp_linear, dp_robust_elimination, ldp_linear
from verifiable_dp.algorithms.dp_linear import DPLinear
from verifiable_dp.algorithms.dp_robust_elimination import DPRobustElimination
from verifiable_dp.algorithms.dp_robust_se import DPRobustSE
from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.algorithms.dp_ucb import DPUCB
from verifiable_dp.algorithms.ldp_linear import LDPLinear
from verifiable_dp.algorithms.ldp_robust_se import LDPRobustSE
from verifiable_dp.algorithms.se import SE
from verifiable_dp.algorithms.shuffled_linear import ShuffledLinear
from verifiable_dp.auditing.contextual import ContextualCase
from verifiable_dp.auditors import _closed_forms as closed_forms
from verifiable_dp.auditors import _linear, _robust, dp_ucb
from verifiable_dp.auditors import dp_robust_elimination as robust_elimination
from verifiable_dp.core.algorithm import play
from verifiable_dp.core.claims import Basis, Source, gdp_epsilon, gdp_mu
from verifiable_dp.core.environments import Table, bernoulli
from verifiable_dp.core.noise import Seeded
from verifiable_dp.core.query import Query
from verifiable_dp.core.tapes import Recorder
from verifiable_dp.core.validate import InputError
from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.regret.mean_bound import mean_bound
from verifiable_dp.registry import entries, errata, mutants, theorems
from verifiable_dp.registry import entries as catalogue
from verifiable_dp.registry import entries as registry
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.auditor import Mutant
from verifiable_dp.registry.mutants import Unforgetting, gap_times, result
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import Exponent, Pulls, TheoremTrial
from verifiable_dp.registry.wrapped import with_parameters

GOOD = """
notes = ["one", ["two", "lines"]]

[words]
shared = "in a set {1, 2} of {k}"
price = ["{runs} runs", "of each"]

[auditor]
model = "central"
instance = { n_arms = 2, horizon = 50 }
small = { horizon = 20 }
printed = { expected = "refuted", changes = { epsilon = 2.0 } }

[mutants]
half = "noise over {factor:g}"
whole = { name = "all", fault = ["a", "b"], bounding = true }

[claims."lemma {k}"]
statement = ["The regret is", "at most {x} ({X > B})."]
formula = "{shared}"
where = "Lemma {k}"
kind = "mean"
basis = "ours"

[statements.best]
words = "Best."
where = "Section 5"
expected = "contradicted"

[figures."over-{k}"]
caption = "Over {k}."
statements = ["best-{k}"]
"""


def sheet(folder, text):
    (folder / "made.toml").write_text(text)
    return Sheet(str(folder / "made.py"), "A paper")


def test_rows_become_what_they_declare(tmp_path):
    good = sheet(tmp_path, GOOD)
    check = Pulls(None, {})
    claim = good.claim("lemma {k}", max, [check], k=3, x="T")
    assert (claim.name, claim.statement) == ("lemma 3", "The regret is at most T ({X > B}).")
    assert (claim.formula, claim.kind, claim.bound, claim.checks) == (
        "in a set {1, 2} of 3",
        "mean",
        max,
        [check],
    )
    assert claim.source == Source("A paper", "Lemma 3", "", Basis.OURS)
    assert good.claim("lemma {k}", paper="Another", k=3, x="T").source.paper == "Another"
    half = good.mutant("half", mutants.gap_times(8), check, factor=2.0)
    assert (half.name, half.fault, half.breaks, half.caught_by) == ("half", "noise over 2", "regret", check)
    whole = good.mutant("whole", mutants.gap_times(8))
    assert (whole.name, whole.fault, whole.breaks, whole.bounding) == ("all", "a b", "privacy", True)
    assert good.words("price") == "{runs} runs of each"
    assert good.notes() == ("one", "two lines")
    statement = good.statement("best", list)
    assert (statement.name, statement.expected, statement.checks) == ("best", "contradicted", list)
    figure = good.figure("over-{k}", [], k="T")
    assert (figure.name, figure.caption, figure.statements) == ("over-T", "Over T.", ("best-T",))
    made = good.auditor(DPSE, list, [half], [claim], small={"n_arms": 3}, tightness=0.5)
    assert (made.paper, made.model, made.tightness, made.longest) == ("A paper", "central", 0.5, 1 << 16)
    assert list(made.small.items()) == [("n_arms", 3), ("horizon", 20)]
    assert made.printed_instance == {"n_arms": 2, "horizon": 50, "epsilon": 2.0, "variant": "printed"}
    assert good.asked == good.rows.keys()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[clams]", "made.toml: unknown table 'clams'; known tables are words, claims, mutants,"),
        ("mutants = 1", "made.toml: mutants must be a table, got 1"),
        ('[claims.a]\nstatement = "b"', "made.toml: claims.a: Object missing required field"),
        (
            "[mutants]\nhalf = { fault = 'b', bound = true }",
            "made.toml: mutants.half: Object contains unknown",
        ),
        ("[words]\nprice = 3", "made.toml: words.price: Expected `str | array`, got `int`"),
        (
            "[auditor]\nmodel = 'none'\nlongest = 1.5",
            "made.toml: auditor: Expected `int`, got `float`",
        ),
        ("[words", "is not TOML"),
    ],
)
def test_a_sheet_is_checked_when_it_is_read(tmp_path, text, message):
    made = sheet(tmp_path, text)
    with pytest.raises(InputError, match=message):
        made.words("price")


def test_rows_and_values_that_nothing_holds_are_refused(tmp_path):
    good = sheet(tmp_path, GOOD)
    with pytest.raises(InputError, match=r"^made.toml: mutants.third: no such row$"):
        good.mutant("third", mutants.gap_times(8))
    with pytest.raises(InputError, match=r"^made.toml: words.price: no text uses k, rule$"):
        good.words("price", k=1, rule=2, runs=3)


def test_a_grid_is_every_combination(tmp_path):
    made = sheet(tmp_path, "[grids]\nsteps = [1, 2, 4]")
    grid = {"a": ["x", "y"], "low, high": "steps"}
    assert list(made.points(grid)) == [
        {"a": a, "low": b, "high": c} for a in "xy" for b, c in ((1, 2), (2, 4))
    ]
    assert list(made.points({"b, c": [[1, "p"], [1, "q"]]})) == [{"b": 1, "c": "p"}, {"b": 1, "c": "q"}]
    assert list(made.points({"b": "steps"})) == [{"b": 1}, {"b": 2}, {"b": 4}]


def test_checks_take_their_words_and_limits_from_rows(tmp_path):
    rows = """
[checks.less]
name = "{what} over {v:g}"
holds = "at most"
limit = 2
tolerance = 0.5
[ratios.share]
name = "lemma-1 at v = {v:g}"
claim = "lemma-1"
instance = "all"
largest = 9.0
"""
    made = sheet(tmp_path, rows)
    check = made.check("less", 2.4, texts={"what": "loss"}, v=0.5)
    assert (check.name, check.verdict) == ("loss over 0.5", "consistent")
    assert check.statistics | {"limit": 2.0, "v": 0.5, "tolerance": 0.5} == check.statistics
    assert made.check("less", 2.4, 1.0, v=0.5).verdict == "contradicted"
    ratio = made.ratio("share", [0.5, 0.5], v=0.5)
    assert (ratio.name, ratio.verdict, ratio.statistics["largest"]) == (
        "lemma-1 at v = 0.5",
        "consistent",
        9.0,
    )
    assert made.ratio("share", [3.0, 3.0], largest=4.0, v=1).verdict == "contradicted"


# ---------------------------------------------------------------- sheets of the catalogue

HERE = Path(__file__).parents[3] / "auditors"
SHEETS = sorted(path for path in HERE.rglob("*.toml") if path.parent.name != "papers")


@cache
def asked():
    """Every sheet of the catalogue by its module, after all that reads it was made once."""
    for name in catalogue.every():
        catalogue.auditor(name)
    assert errata.registered()
    for name in studies.names():
        studies.study(name).plan(0.001)
    modules = [module for name, module in sys.modules.items() if name.startswith("verifiable_dp.auditors.")]
    return {Path(module.__file__).stem: module.SHEET for module in modules if hasattr(module, "SHEET")}


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.stem)
def test_the_code_asks_for_every_row(path):
    """A row that nothing asks for says what does not hold any more."""
    sheet = asked()[path.stem]
    later = ("checks", "ratios")  # made when they are run
    assert {row for row in sheet.rows if row[0] not in (*later, *sheet.forms)} <= sheet.asked
    source = path.with_suffix(".py").read_text("utf-8")
    for kind, name in sheet.rows:
        assert kind not in later or f'"{name}"' in source, name


# Broken variants that are wrappers of an algorithm: what each makes of the data, by hand.


def block(pulls):
    """A block of one run that plays both arms `pulls` times each."""
    return Query(np.zeros(1, np.int64), np.array([2 * pulls]), np.ones((1, 2), bool), np.ones(1, bool))


@pytest.mark.parametrize(
    ("blocks", "released"),
    [
        ([(1, 3.0)], [3.0]),  # a single pull is the whole mean
        ([(4, 8.0)], [8.0]),
        ([(1, 3.0), (1, 1.0)], [3.0, 2.0]),
        ([(2, 4.0), (6, 4.0)], [4.0, 6.0]),  # 8 of 8 pulls, scaled to the 6 of this block
    ],
)
def test_an_elimination_that_forgets_nothing_releases_means_over_all_blocks(blocks, released):
    rule = Unforgetting(make("dp-se", n_arms=2, epsilon=1.0, horizon=100))
    state, found = rule.start(np.zeros(1, np.int64)), []
    memory = rule.private(state.run)
    for pulls, total in blocks:
        answer = np.full((1, 2), total)
        memory, shown = rule.release(state, memory, block(pulls), answer, lambda draw: draw.value)
        found.append(float(shown[0, 0]))
    assert found == pytest.approx(released)


@pytest.mark.parametrize(
    ("cost", "delta", "reduced"),
    [
        (1.0, 1e-5, gdp_epsilon(2 * gdp_mu(1.0, 1e-5), 1e-5)),
        (0.0, 1e-5, 0.0),  # nothing that more noise could hide
        (np.inf, 1e-5, np.inf),
        (1.0, 0.0, 1.0),
    ],
)
def test_what_a_promise_to_users_costs_with_half_the_noise(cost, delta, reduced):
    case = SimpleNamespace(
        checks=[SimpleNamespace(statistics={"max_cost": cost})], claim=SimpleNamespace(delta=delta, curve="")
    )
    assert ContextualCase.reduced(case, 2.0) == pytest.approx(reduced)


# What auditors are declared with: operators that make mutants, and checks of claims as data.


PAIR = bernoulli([0.9, 0.1], "a pair")
RUN = np.arange(8)


def elimination(**changes):
    return DPSE(**{"n_arms": 2, "epsilon": 1.0, "horizon": 8000, "beta": 0.9, **changes})


def released(algorithm, table, seed=0):
    return play(algorithm, Table(table), Seeded(seed), RUN).released


def scales(algorithm, table):
    recorder = Recorder(Seeded(0))
    play(algorithm, Table(table), recorder, RUN)
    return recorder.tape().releases.columns["scale"]


# ---------------------------------------------------------------- operators


def test_a_mutant_that_refers_to_its_check_breaks_regret():
    assert Mutant("a", "b", mutants.gap_times(8)).breaks == "privacy"
    assert Mutant("a", "b", mutants.gap_times(8), caught_by=theorems.MeanBound([PAIR])).breaks == "regret"
    with pytest.raises(InputError, match="breaks"):
        Mutant("a", "b", mutants.gap_times(8), "luck")


def test_the_check_that_catches_a_mutant_is_one_of_a_claim():
    """The object itself: one that is equal would be another check as soon as either changes."""
    auditor = registry.auditor("dp-se")
    known = auditor.claims[0].checks[0]
    mutant = Mutant("mild", "b", mutants.gap_times(8), caught_by=known)
    assert replace(auditor, mutants=[mutant]).mutants == [mutant]
    with pytest.raises(
        InputError, match=r"caught_by of 'mild' must be one of .*, got a Pulls that no claim has$"
    ):
        replace(auditor, mutants=[replace(mutant, caught_by=replace(known))])


def test_one_check_of_an_auditor_can_be_made_alone():
    auditor, rule = registry.auditor("dp-se"), elimination(n_arms=5)
    pulls = auditor.claims[0].checks[0]
    (check,) = auditor.regret(rule, "mutant", 0, 1, pulls)
    assert check.name == "lemma-4.2 pulls on large gaps"


@pytest.mark.parametrize("kind", [DPSE, SE])
def test_the_gap_that_removes_an_arm_is_multiplied(kind):
    shared = {"epsilon": 1.0} if kind is DPSE else {}
    rule = kind(n_arms=2, horizon=100_000, beta=0.5, **shared)
    state = rule.start(RUN)
    broken = mutants.gap_times(8)(rule)
    assert broken.plan(state)[1] == pytest.approx(8 * rule.plan(state)[1])
    assert np.array_equal(broken.plan(state)[0], rule.plan(state)[0])
    assert not hasattr(broken, "kernel")
    assert broken.parameters == rule.parameters
    # The fault stays where parameters change.
    later = with_parameters(broken, n_arms=3)
    state = later.start(RUN)
    assert later.plan(state)[1] == pytest.approx(8 * with_parameters(rule, n_arms=3).plan(state)[1])


def test_epochs_that_are_longer_keep_the_gap():
    rule = elimination()
    state = rule.start(RUN)
    pulls, gap = mutants.epochs_times(lambda rule: 1.5)(rule).plan(state)
    assert np.array_equal(pulls, np.ceil(1.5 * rule.plan(state)[0]))
    assert np.array_equal(gap, rule.plan(state)[1])


def test_an_inverted_elimination_keeps_the_worse_arm():
    rule = elimination(epsilon=10.0)
    table = np.tile([1.0, 0.0], (8000, 1))
    assert play(rule, Table(table), Seeded(0), RUN).final.active.tolist() == [[True, False]] * 8
    broken = mutants.INVERTED(rule)
    assert play(broken, Table(table), Seeded(0), RUN).final.active.tolist() == [[False, True]] * 8


def test_properties_methods_and_tables_can_be_changed():
    ucb = make("dp-ucb", n_arms=2, epsilon=1.0, horizon=100)
    assert mutants.result("width", lambda rule, width: width + rule.horizon)(ucb).width == ucb.width + 100
    assert hasattr(mutants.result("width", lambda rule, width: width, compiled=True)(ucb), "kernel")
    assert not hasattr(mutants.result("width", lambda rule, width: width)(ucb), "kernel")
    rule = elimination()
    doubled = mutants.result("schedule", lambda rule, tables: (2 * tables[0], tables[1]))(rule)
    assert np.array_equal(doubled.schedule[0], 2 * rule.schedule[0])
    taken = mutants.borrowed(lambda rule: elimination(epsilon=rule.epsilon / 4), "schedule", "mechanism")(
        rule
    )
    assert taken.mechanism(1, 1).epsilon == 0.25
    assert np.array_equal(taken.schedule[1], elimination(epsilon=0.25).schedule[1])


def test_one_operator_makes_one_class():
    """Mutants of one algorithm are equal, as the algorithm is, and no mutant equals it."""
    change = mutants.gap_times(2)
    assert change(elimination()) == change(elimination())
    assert change(elimination()) != elimination()


def test_noise_follows_the_block():
    rule, table = elimination(), np.full((8000, 2), 0.5)
    right = scales(rule, table)
    by_epoch = mutants.noise_by(lambda rule, state, query: 1.0 * state.epoch[:, None])(rule)
    assert len(right) == 32  # two epochs
    assert sorted(set(scales(by_epoch, table) / right)) == [1.0, 2.0]
    pulls = rule.schedule[0][[1, 2], 2]
    assert sorted(set(scales(mutants.MEAN_NOISE(rule), table) / right)) == sorted(1 / pulls)
    assert np.array_equal(scales(mutants.noise_times(lambda rule: rule.epsilon / 2)(rule), table), right / 2)


def test_what_is_not_forgotten_comes_again():
    """Arm 0 pays in the first epoch alone: its mean over both, in units of the second epoch's sum."""
    rule = elimination()
    first, second = (int(pulls) for pulls in rule.schedule[0][[1, 2], 2])
    table = np.zeros((8000, 2))
    table[: 2 * first, 0] = 1.0
    exact = mutants.chained(mutants.Unforgetting, mutants.noise_times(0.0))
    keep = mutants.gap_times(1e9)
    values = released(exact(keep(rule)), table)[0, :4]
    assert values.tolist() == pytest.approx([first, 0, first * second / (first + second), 0])
    assert released(mutants.noise_times(0.0)(keep(rule)), table)[0, :4].tolist() == [first, 0, 0, 0]


# ---------------------------------------------------------------- checks as data


def test_a_bound_is_given_the_gaps_and_the_rule_at_the_horizon_asked_for():
    gaps = np.array([0.0, 0.5])

    def bound(gaps, rule):
        return gaps.max(), rule.n_arms, rule.epsilon, rule.horizon, rule.beta

    assert theorems.bound_of(bound, elimination(beta=None), gaps)(1000) == (0.5, 2, 1.0, 1000, 1e-3)
    own = elimination(beta=0.25)
    assert theorems.bound_of(bound, own, gaps)(8000)[-1] == 0.25  # at its horizon it is as it is
    assert theorems.bound_of(bound, own, gaps)(1)[-2:] == (2, 0.5)  # the shortest that there is


def test_a_check_of_the_correct_algorithm_is_not_made_of_mutants():
    rule, made = elimination(), []

    def check(trial):
        made.append(trial.budget)
        return []

    for budget in ("mutant", "quick"):
        list(theorems.CorrectOnly(check)(on_trial("dp-se", "theorem-4.3", rule, budget)))
    assert made == ["quick"]


def test_a_mutant_is_held_against_the_bound_of_the_correct_algorithm():
    """Its own schedule would excuse it."""
    rule = make("dp-robust-se", n_arms=2, epsilon=1.0, horizon=10**6, v=1.0, u=1.0)
    broken = mutants.result("pulls", lambda rule, pulls, *at: 100 * pulls)(rule)
    trials = [on_trial("dp-robust-se", "theorem-4", played) for played in (rule, broken)]
    assert type(trials[1].rule) is type(rule)
    bounds = [trial.bound(PAIR.gaps)(10**6) for trial in trials]
    assert bounds[0] == bounds[1]


def test_mean_regret_is_judged_by_the_claim():
    rule = elimination(horizon=10**6, beta=None)
    trial = on_trial("dp-se", "theorem-4.3", rule, "quick")
    (check,) = theorems.MeanBound([PAIR], {"epsilon": 2.0}, 5)(trial)
    played = elimination(horizon=10**6, beta=None, epsilon=2.0)
    assert check.statistics["n"] == 5
    assert check.statistics["bound"] == pytest.approx(trial.claim.bound(PAIR.gaps, played))
    assert check.statistics["mean"] == trial.simulate(played, PAIR, 5).regret.mean()
    assert check.name == "theorem-4.3 on a pair"


def test_pulls_and_survival_see_what_happened():
    short = {"n_arms": 2, "horizon": 100_000, "beta": 0.1}
    for make_it, verdict in ((lambda rule: rule, "consistent"), (mutants.INVERTED, "contradicted")):
        trial = on_trial("dp-se", "lemma-4.2", make_it(elimination()))
        checks = [*theorems.Pulls(PAIR, short)(trial), *theorems.Survival(PAIR, short)(trial)]
        assert [check.verdict for check in checks] == [verdict] * 2


# Closed forms of the papers' bounds: right numbers, apart from the code of the rules, and able to fail.


GAPS = np.array([0.0, 0.03, 0.3, 0.7])
EIGHTFOLD = result("width", lambda rule, width, *at: 8 * width)


def claim(auditor, name):
    return next(claim for claim in auditor.CLAIMS if claim.name == name)


# ---------------------------------------------------------------- numbers


def test_numbers_that_were_worked_out_by_hand():
    # One epoch of DP-SE: 32 log(8 2 1e6) 4 + 1 = 2124.3 pulls at a gap of .5, and the gap once.
    assert closed_forms.dp_se(np.array([0.0, 0.5]), 1e6, 10.0) == 0.5 * 2125 + 0.5
    # 4 (h + c) = 4 (.06249 + .00075) is below .3, too; 2^-1 is not.
    assert closed_forms.dp_se(np.array([0.0, 0.3]), 1e6, 10.0) == 0.3 * 2125 + 0.3
    # Privacy: 8 log(8e6) 2/.01 + 1 = 25432.3.
    assert closed_forms.dp_se(np.array([0.0, 0.5]), 1e6, 0.01) == 0.5 * 25433 + 0.5
    # (24 2)^2 log(8e6) + 1 = 36622.8, and (28 2)^4 l + l, l = log(1.6e10).
    about = {"n_arms": 2, "epsilon": 1.0, "v": 1.0, "u": 1.0}
    assert closed_forms.dp_robust_se_epoch(1.0, failure=1e-6, **about) == 36623
    assert closed_forms.ldp_robust_se_epoch(1.0, failure=1e-9, **about) == pytest.approx(
        (56**4 + 1) * math.log(16e9), abs=1.5
    )
    # (36/.5)^2 2 log(2e24) log^2.5(1e6)/.25.
    assert closed_forms.dp_robust_ucb_pulls(0.5, 1e6, 0.25, 1.0, 2.0) == pytest.approx(
        5184 * 8 * (math.log(2) + 24 * math.log(10)) * (6 * math.log(10)) ** 2.5, rel=1e-12
    )
    # sqrt(2 log 4/n) + 2 M log 4/(3 n) + 2 M log 2/n + 1/M, n = 100, M = (100/log(1/delta))^(1/2), delta = 1.
    beta = closed_forms.robust_deviation(100.0, 2.0, 1.0, 0.25, 0.5)
    log, limit = math.log(8), 2.0
    by_hand = math.sqrt(2 * 2 * log / 100) + 4 * log / 300 + 4 * math.log(4) / 100 + 0.5 + 0.25 * 3
    assert beta == pytest.approx(by_hand, rel=1e-12)
    assert limit == 0.25 ** (-1 / 2)


@pytest.mark.parametrize("constants", ["proof", 0.1])
@pytest.mark.parametrize("variant", ["corrected", "printed"])
def test_epochs_are_those_of_the_listings(constants, variant):
    epoch = np.arange(1.0, 12.0)
    local = LDPRobustSE(4, 0.5, 10**12, 0.7, 3.0, constants=constants, variant=variant)
    for rule in (DPRobustSE(4, 0.5, 10**12, 0.7, 3.0, constants=constants), local):
        assert np.array_equal(_robust.epoch_lengths(rule, epoch), rule.pulls(np.float64(4), epoch))


@pytest.mark.parametrize("alpha", [0.0, 0.02])
@pytest.mark.parametrize("moments", ["raw", "central"])
def test_deviations_are_those_of_the_listing(alpha, moments):
    radius = 7.0 if moments == "central" else 1.0
    rule = DPRobustElimination(4, 0.5, 1 << 30, 2.5, alpha, moments, radius)
    about = (rule.k, rule.epsilon, alpha, rule.failure, radius if moments == "central" else None)
    mine = [closed_forms.robust_deviation(n, *about) for n in rule.samples[1:].tolist()]
    np.testing.assert_allclose(mine, rule.beta[1:], rtol=1e-12)


# ---------------------------------------------------------------- apart from the rules


def bounds():
    actions, gaps = _linear.CIRCLE, _linear.on_circle(_linear.CIRCLE, 0).gaps
    return [
        *(_robust.regret_bound(GAPS, cls(4, 0.5, 10**12, 0.7, 3.0)) for cls in (DPRobustSE, LDPRobustSE)),
        robust_elimination.regret_bound(GAPS, DPRobustElimination(4, 0.5, 1 << 30)),
        robust_elimination.regret_bound(
            GAPS, DPRobustElimination(4, 0.5, 1 << 30, moments="central", radius=7.0)
        ),
        *(_linear.regret_bound(gaps, cls(actions, 1.0, 10**7)) for cls in LINEAR),
    ]


LINEAR = (DPLinear, LDPLinear, ShuffledLinear)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (DPRobustSE, "pulls"),
        (LDPRobustSE, "pulls"),
        (dp_robust_elimination, "deviation"),
        (DPRobustElimination, "gap"),
        (dp_linear, "width"),
        (dp_linear, "growth"),
        (ldp_linear, "width"),
        (ShuffledLinear, "local"),
    ],
)
def test_a_wrong_schedule_does_not_move_its_own_bound(monkeypatch, place, name):
    before, own = bounds(), getattr(place, name)
    monkeypatch.setattr(place, name, lambda *given, **named: 2 * own(*given, **named))
    assert bounds() == before


# ---------------------------------------------------------------- able to fail


@pytest.mark.parametrize("kind", LINEAR)
def test_theorems_of_high_probability_are_checked_as_such(kind):
    """Every run of a rule eight times as timid breaks them, none of the right one's."""
    rule = kind(_linear.CIRCLE, 1.0, 10**6)
    theorem = next(c for c in _claims(kind) if c.name.startswith("theorem"))
    for played, verdict in ((rule, "consistent"), (EIGHTFOLD(rule), "contradicted")):
        found = list(_linear.HighProbability()(TheoremTrial(kind, theorem, played, "quick", 0)))
        assert [check.verdict for check in found] == [verdict, verdict]
        assert {check.kind for check in found} == {"probability"}


@pytest.mark.parametrize("kind", LINEAR)
def test_the_rate_of_the_worst_case_is_told_from_uniform_play(kind):
    rule = kind(_linear.CIRCLE, 1.0, 10**6)
    theorem = next(c for c in _claims(kind) if c.name.startswith("theorem"))
    check = _linear.WorstCase(100.0 if kind is DPLinear else 1.0, tuple(range(14, 24, 2)))
    never = result("width", lambda rule, width, *at: 1e9 * width)
    for played, slope in ((rule, 0.5), (never(rule), 1.0)):
        (found,) = check(TheoremTrial(kind, theorem, played, "quick", 0))
        assert found.result["slope"] == pytest.approx(slope, abs=0.05)


def _claims(kind):
    return entries.auditor(kind.name).claims


def test_dp_ucb_over_the_number_of_arms(monkeypatch):
    """Regret like K - 1 in the place of K (K - 1), or the other way round, is contradicted."""
    rule = DPUCB(5, 1.0, 10**6, "per-arm")
    trial = TheoremTrial(DPUCB, claim(dp_ucb, "rate"), rule, "quick", 0)
    monkeypatch.setattr(dp_ucb, "OVER_ARMS", (2, 3, 5, 9))
    monkeypatch.setattr(dp_ucb, "RATE_RUNS", 3)
    right = list(dp_ucb.over_arms(trial))
    assert [round(check.result["slope"], 1) for check in right] == [1.0, 1.0]

    def swapped(self, environment, runs, **options):
        budget = "split" if self.rule.budget == "per-arm" else "per-arm"
        return played(self.changed(budget=budget), environment, runs, **options)

    played = TheoremTrial.play
    monkeypatch.setattr(TheoremTrial, "play", swapped)
    slopes = [check.result["slope"] for check in dp_ucb.over_arms(trial)]
    assert slopes[0] > 1.5
    assert slopes[1] < 0.7


def exponents():
    """Every rate over one parameter that an audit measures, by name: its claim's auditor and itself."""
    found = {}
    for auditor in map(entries.auditor, entries.names()):
        for made in (check for claim in auditor.claims for check in claim.checks):
            check = getattr(made, "check", made)
            if isinstance(check, Exponent):
                found[f"{auditor.algorithm.name} {check.over}"] = auditor, check
    return found


def test_uniform_play_breaks_every_rate_over_one_parameter_of_an_audit(monkeypatch):
    assert {"dp-robust-se epsilon", "dp-robust-elimination epsilon", "dp-robust-ucb K"} <= set(exponents())

    def uniform(self, environment, runs, **options):
        return SimpleNamespace(regret=np.full(8, self.rule.horizon * environment.gaps.mean()))

    monkeypatch.setattr(TheoremTrial, "play", uniform)
    for name, (auditor, check) in exponents().items():
        rule = auditor.algorithm(**auditor.instance)
        trial = TheoremTrial(auditor.algorithm, SimpleNamespace(name="claim"), rule, "quick", 0)
        assert [found.verdict for found in check(trial)] == ["contradicted"], name


def test_a_bound_that_is_met_a_hundredfold_is_called_weak():
    def said(bound):
        check = mean_bound("x", np.array([1.0, 1.1, 0.9]), bound=bound, largest=1e6)
        assert check.verdict == "consistent"
        return in_words(Check.read(check.as_dict()))

    assert "weak check, because the bound is 1900 times the mean" in said(1900.0)
    assert "weak" not in said(90.0)


def test_an_eightfold_gap_breaks_the_bound_of_robust_elimination():
    where = bernoulli([0.8, 0.2])
    rule = DPRobustElimination(2, 1.0, 1 << 20)
    bound = robust_elimination.regret_bound(where.gaps, rule)
    regrets = [
        TheoremTrial(DPRobustElimination, None, played, "quick", 0).play(where, 6).regret.mean()
        for played in (rule, gap_times(8)(rule))
    ]
    assert regrets[0] < bound < regrets[1]


@pytest.mark.parametrize(
    ("loaded", "said"),
    [
        (object(), "is not an Auditor of 'dp-se'"),
        (entries.auditor("ucb1"), "is not an Auditor of 'dp-se'"),  # one of another name
        (RuntimeError("no"), "('dp-se') cannot be imported: RuntimeError: no"),
    ],
)
def test_what_is_registered_must_be_an_auditor_of_that_name(loaded, said, monkeypatch):
    def load(point):
        if isinstance(loaded, Exception):
            raise loaded
        return loaded

    monkeypatch.setattr(entries.plugins, "load", load)
    with pytest.raises(InputError) as error:
        entries._loaded.__wrapped__("dp-se")
    assert str(error.value).startswith("catalogue: verifiable_dp.auditors.dp_se:")
    assert str(error.value).endswith(said)
