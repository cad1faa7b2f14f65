"""Sheets: words and settings in TOML beside the code of an auditor."""

import sys
from functools import cache
from pathlib import Path

import pytest

from verifiable_dp.algorithms.dp_se import DPSE
from verifiable_dp.core.claims import Basis, Source
from verifiable_dp.core.validate import InputError
from verifiable_dp.registry import entries as catalogue
from verifiable_dp.registry import errata, mutants
from verifiable_dp.registry import study as studies
from verifiable_dp.registry.sheets import Sheet
from verifiable_dp.registry.theorems import Pulls

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
        ("[clams]", "made.toml: unknown table 'clams', known are words, claims, mutants,"),
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
    with pytest.raises(InputError, match=r"^made.toml: mutants.third: there is no such row$"):
        good.mutant("third", mutants.gap_times(8))
    with pytest.raises(InputError, match=r"^made.toml: words.price: no text has k, rule$"):
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
