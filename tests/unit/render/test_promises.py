"""A verdict states the promised quantity, and which leaks the stated power is about, in every rendering."""

import functools
import html
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import verifiable_dp as vdp
from verifiable_dp.compliance.blocks import to_compliance
from verifiable_dp.evidence.blackbox import curves
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import words
from verifiable_dp.record.model import Counterexample, Record
from verifiable_dp.render import opendp_registry, portfolio
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.markdown import to_dpia, to_markdown
from verifiable_dp.render.opendp_registry import to_opendp
from verifiable_dp.render.page import render, render_pack
from verifiable_dp.render.sarif import to_sarif


def permute_and_flip(data, rng):
    """Keeps epsilon 1, but not rho 1/8, which only the exponential mechanism does."""
    for i in rng.permutation(data.size):
        if rng.random() < np.exp((data[i] - data.max()) / 2):
            return int(i)


permute_and_flip.neighbours = [(np.zeros(2), np.array([1.0, -1.0]))]


def noisy(data, size, rng):
    return np.sum(data) + rng.laplace(0, 1.0, size)


def normal(data, size, rng):
    return np.sum(data) + rng.normal(0, 1.0, size)


def greedy(rewards, rng):
    """Plays what paid in the first round of either arm."""
    actions = np.zeros(len(rewards), int)
    actions[1] = 1
    actions[2:] = int(rewards[1, 1] > rewards[0, 0])
    return actions


REFUTED = {
    "rho": (permute_and_flip, {"rho": 0.125}, "rho 0.125"),
    "mu": (normal, {"mu": 0.5}, "mu 0.5"),
    "epsilon": (noisy, {"epsilon": 0.5}, "epsilon 0.5"),
    "epsilon and delta": (noisy, {"epsilon": 0.5, "delta": 1e-5}, "epsilon 0.5 at delta 1e-05"),
    "group": (
        greedy,
        {"epsilon": 0.5, "group": 2, "n_arms": 2, "horizon": 6},
        "epsilon 1 for a group of 2 rewards",
    ),
}


def on_a_page(shown):
    """What is read of a page: tags end a sentence, and pictures are not read here."""
    plain = re.sub(r"<(style|svg|script)\b.*?</\1>", " ", shown, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]*>", "\n", plain))


RENDERINGS = {
    "line": lambda record: vdp.Report(record).line(),
    "terminal": lambda record: vdp.Report(record).summary(),
    "notebook": lambda record: on_a_page(vdp.Report(record)._repr_html_()),
    "page": lambda record: on_a_page(render(Record.of(record))),
    "pack": lambda record: on_a_page(render_pack(Record.of(record))),
    "markdown": lambda record: to_markdown(Record.of(record)).replace("\\", ""),
    "dpia": lambda record: to_dpia(Record.of(record)).replace("\\", ""),
    "sarif": lambda record: to_sarif(Record.of(record)),
    "junit": lambda record: html.unescape(to_junit(Record.of(record))),
    "in-toto": lambda record: to_intoto(Record.of(record)),
    "opendp": lambda record: to_opendp(Record.of(record)),
    "compliance": lambda record: to_compliance(Record.of(record)),
}
_NUMBER = r"(\d[\d.]*(?:e-?\d+)?)"
# A measured bound and the claim that it is beside, in one sentence.
_BESIDE = (
    re.compile(rf"(?:at least|>=) {_NUMBER}[^;\n]*?(?:claimed|promised at most)(?: epsilon)? {_NUMBER}"),
    re.compile(rf"claim of epsilon {_NUMBER}[^\n]*?refuted: epsilon is at least {_NUMBER}"),
)


def slips(text):
    """Sentences in which something is refuted by less than was claimed."""
    found = []
    for line in text.splitlines():
        if "refuted" not in line.replace("not refuted", "").replace("not_refuted", ""):
            continue
        for number, pattern in enumerate(_BESIDE):
            for match in pattern.finditer(line):
                both = (match[1], match[2]) if number == 0 else (match[2], match[1])
                least, claim = (float(part.rstrip(".")) for part in both)
                if not least > claim:
                    found.append(match[0])
    return found


@functools.cache
def refuted(kind):
    target, promise, _ = REFUTED[kind]
    return vdp.audit(target, budget="smoke", seed=0, **promise).to_json()


@pytest.mark.parametrize("kind", REFUTED)
def test_a_refutation_states_what_was_promised_and_where_it_fails(kind):
    record, promised = json.loads(refuted(kind)), REFUTED[kind][2]
    assert record["verdict"] == "refuted"
    said = words.verdict(Record.of(record))
    assert said.startswith(f"The claim of {promised} is refuted: ")
    for name, rendering in RENDERINGS.items():
        text = rendering(record)
        assert not slips(text), name
        if kind in ("rho", "mu", "group") and name != "compliance":  # that has numbers by name
            shown = " ".join(text.replace('" value="', " ").split())
            assert (promised if kind != "group" else "2 rewards") in shown, name


@pytest.mark.parametrize("kind", ["rho", "mu", "epsilon"])
def test_a_portfolio_has_the_promise_beside_what_breaks_it(kind, tmp_path):
    record = json.loads(refuted(kind))
    vdp.Report(record).save(tmp_path)
    cells = on_a_page(portfolio.write(tmp_path)[0].read_text("utf-8"))
    assert words.claimed(Record.of(record)) in cells
    assert words.shown(Record.of(record)) in " ".join(cells.split())
    if kind != "epsilon":
        assert words.claimed(Record.of(record)) == REFUTED[kind][2]
        assert words.shown(Record.of(record)) == words.broken(Record.of(record))


def test_the_slip_is_found_where_it_was():
    """Control: the sentences of earlier versions."""
    assert slips("target f  refuted  epsilon >= 0.973, claimed 2.166 at delta 1e-05")
    assert slips("The claim of epsilon 2.166 is refuted: epsilon is at least 0.973. It can be run again.")
    assert slips("  check curve: refuted, 13 points: epsilon at least 0.8562 with 95 %, claimed 2.166")
    assert not slips("  check black box: not refuted, epsilon at least 0.973, claimed 2.166")
    assert not slips("refuted  epsilon >= 2.5, claimed 1")


def test_a_curve_names_the_point_that_breaks_it():
    record = json.loads(refuted("rho"))
    [check] = [c for c in record["checks"] if c["kind"] == "curve"]
    point = curves.breaking(check["statistics"], check["result"])
    assert point in words.verdict(Record.of(record))
    assert point in words.line(Check.read(check))
    assert point in words.counterexample(Counterexample.of(record["counterexamples"][0]), Record.of(record))
    measured, promised = re.fullmatch(
        r"\w+ is at least (\S+) at \w+ \S+, promised at most (\S+)", point
    ).groups()
    assert float(measured) > float(promised)


@functools.cache
def unbounded():
    return vdp.audit(noisy, epsilon=1.0, adjacency="add-remove", budget="smoke", seed=0).to_json()


def test_the_stated_power_says_of_which_leaks():
    record = json.loads(unbounded())
    assert (record["verdict"], record["epsilon_upper"]) == ("not_refuted", None)
    stated = re.compile(
        r"would have (?:been )?(?:seen|caught|detected)|would (?:detect|catch)|Sampling catches|caught from"
    )
    kinds = (words.KIND, words.SHORT, "ess noise caught from")
    seen = 0
    for name, rendering in RENDERINGS.items():
        for sentence in re.split(r"(?<=[a-z)])\. |\n", rendering(record)):
            if stated.search(sentence) and re.search(r"epsilon|caught \d", sentence):
                seen += 1
                assert any(kind in sentence for kind in kinds), (name, sentence)
    assert seen > 8


@pytest.mark.parametrize(
    ("verdict", "checks", "said"),
    [
        ("not_refuted", [], "kept"),
        ("not_refuted", [1], "Audited: kept At confidence 0.95, epsilon is at least 0.5."),
        ("inconclusive", [1], "Audited: kept At confidence 0.95, epsilon is at least 0.5."),
        ("refuted", [1], "Audited: kept At confidence 0.95, broken."),
    ],
)
def test_what_a_registry_is_told_of_the_audit(verdict, checks, said, monkeypatch):
    for name, text in (("verdict", "kept"), ("broken", "broken")):
        monkeypatch.setattr(opendp_registry.words, name, lambda record, text=text: text)
    record = SimpleNamespace(verdict=verdict, checks=checks, epsilon_lower=0.5, confidence=0.95, power=None)
    assert opendp_registry._audit(record) == said
