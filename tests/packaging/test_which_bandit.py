"""The page which-bandit.md has the numbers of the committed study; as a module this prints its tables."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from verifiable_dp.auditors.studies import beyond
from verifiable_dp.registry import entries as catalogue

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "which-bandit.md"
E, T, K = beyond.CHOICE_EPSILON, beyond.CHOICE_T, beyond.CHOICE_ARMS


@cache
def cells():
    return json.loads((ROOT / "reports" / "studies" / "S5" / "study.json").read_text("utf-8"))["cells"]


def number(mean):
    """Two digits."""
    return f"{float(f'{mean:.2g}'):,.0f}"


def regret(name, n_arms=K, epsilon=E, horizon=T):
    cell = cells().get(beyond.choice(name, n_arms, epsilon, horizon))
    return "–" if cell is None else number(cell["mean"])


def promise(name):
    """Guarantee, unit and model."""
    auditor = catalogue.auditor(name)
    claim = auditor.algorithm(**auditor.instance).claim
    if claim is None:
        return "none", "–", "–"
    kind = "zCDP" if claim.rho is not None else ("epsilon, delta" if claim.delta else "epsilon")
    return kind, claim.unit.value, claim.trust_model


def table(head, rows):
    lines = [" | ".join(head), " | ".join(["---", *["---:"] * (len(head) - 1)])]
    return "\n".join(f"| {line} |" for line in [*lines, *map(" | ".join, rows)])


def tables():
    """Regret over epsilon, over K, over T, at short horizons; and the promises."""
    names = list(beyond.CHOICE)
    yield table(
        ["regret at epsilon =", *(f"{e:.3g}" for e in beyond.CHOICE_EPSILONS)],
        ([f"`{n}`", *(regret(n, epsilon=e) for e in beyond.CHOICE_EPSILONS)] for n in names),
    )
    yield table(
        ["regret at K =", *map(str, beyond.CHOICE_KS), "T = 1e5", "1e6", "1e8", "1e9"],
        (
            [
                f"`{n}`",
                *(regret(n, n_arms=k) for k in beyond.CHOICE_KS),
                *(regret(n, horizon=t) for t in beyond.CHOICE_TS if t != T),
            ]
            for n in names
        ),
    )
    few = beyond.CHOICE_EPSILONS[1:6:2]
    yield table(
        ["regret at T = 1e4, epsilon =", *(f"{e:.3g}" for e in few)],
        ([f"`{n}`", *(regret(n, epsilon=e, horizon=beyond.SHORT_T) for e in few)] for n in beyond.SLOW),
    )
    yield table(
        ["algorithm", "guarantee", "unit", "model"],
        ([f"`{n}`", *promise(n)] for n in dict.fromkeys([*beyond.CHOICE, *beyond.SLOW])),
    )


def test_the_page_has_the_tables_of_the_study():
    text = PAGE.read_text("utf-8")
    found = list(tables())
    assert len(found) == 4
    assert not [one for one in found if one not in text]
    costs = text.partition("## What a simulation costs")[2]
    assert len(re.findall(r"^\| ---", text, re.MULTILINE)) == len(found) + 1
    for name in catalogue.names():  # the last table
        most = catalogue.auditor(name).algorithm.most_simulated
        row = re.search(rf"^\|.*`{name}`.*\| (\S+) \|$", costs, re.MULTILINE)
        assert (row and float(row[1])) == most


def test_every_algorithm_is_measured_or_has_a_reason():
    measured, reasons = (
        {*beyond.CHOICE, *beyond.SLOW},
        PAGE.read_text("utf-8").partition("not measure here")[2],
    )
    reasons = set(re.findall(r"`([a-z0-9-]+)`", reasons.partition("\n## ")[0])) - {"ucb1"}
    assert measured | reasons == set(catalogue.every())
    assert not measured & reasons


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4", "S5", "S6"])
def test_the_page_on_experiments_counts_the_statements_of_each_study(name):
    whole = json.loads((ROOT / "reports" / "studies" / name / "study.json").read_text("utf-8"))
    found = Counter(row["verdict"] for row in whole["statements"])
    order = ("consistent", "contradicted", "vacuous", "inconclusive")
    counts = ", ".join(f"{found[verdict]} {verdict}" for verdict in order if found[verdict])
    minutes = round(whole["provenance"]["cpu_seconds"] / 60)
    row = f"\n| {name} | {minutes} | {len(whole['statements'])}: {counts} | "
    assert row in (ROOT / "docs" / "reproduce.md").read_text("utf-8")


def test_another_number_is_missed():
    first = next(tables())
    assert first.replace(regret("dp-imed"), "1") not in PAGE.read_text("utf-8")


if __name__ == "__main__":
    print("\n\n".join(tables()))
