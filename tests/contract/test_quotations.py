"""The contract of quotations: each errata row says what the paper says, word for word, at its number."""

import json

import pytest

from tests import quotations
from tests.quotations import DATA, SHORT, digest, entry, found_in, items, pattern, texts
from verifiable_dp.algorithms import papers
from verifiable_dp.registry.errata import Quotation, excerpt, registered

KEPT = json.loads(DATA.read_text("utf-8"))
TEXTS = texts()
with_papers = pytest.mark.skipif(not TEXTS, reason="the papers' texts are not beside this clone")
QUOTED = quotations.quotations()


def test_every_quotation_is_one_that_was_held_against_the_paper():
    """Without the papers: an edited quotation, or a new one, has no digest."""
    held = {(row["erratum"], row["place"], row["quotation"]) for row in KEPT["quotations"]}
    said = {(erratum, quote.place, digest(quote.text)) for erratum, _, quote in QUOTED}
    assert said == held
    edited = Quotation(QUOTED[0][2].place, QUOTED[0][2].text.replace("2000", "200"))
    assert (QUOTED[0][0], edited.place, digest(edited.text)) not in held


def test_every_row_quotes_its_own_paper_and_none_at_length():
    rows = registered()
    assert rows
    for row in rows:
        assert row.source.paper in SHORT, row.name
        assert row.quotes, row.name
        assert all(20 <= len(quote.text) <= 700 for quote in row.quotes), row.name


@with_papers
@pytest.mark.parametrize("at", range(len(QUOTED)), ids=[f"{e}-{q.place}" for e, _, q in QUOTED])
def test_a_quotation_stands_in_the_paper_at_its_number(at):
    erratum, paper, quote = QUOTED[at]
    spans = found_in(SHORT[paper], TEXTS[paper], quote)
    assert spans, f"not in {SHORT[paper]}, {quote.place}"
    assert entry(TEXTS[paper], spans[0], erratum, quote) in KEPT["quotations"]


@with_papers
def test_the_numbered_items_are_those_of_the_papers():
    assert KEPT["items"] == {SHORT[paper]: items(SHORT[paper], text) for paper, text in TEXTS.items()}
    assert sum(map(len, KEPT["items"].values())) > 100


@with_papers
def test_a_misquotation_is_not_found():
    """The slip that this test was written for: u^(1/(1+v)) where Theorem 7 of S2 prints u^(2/v)."""
    text = TEXTS[papers.TAO]
    [theorem] = [q for name, _, q in QUOTED if name == "local-rate" and "(10)" in q.text]
    assert found_in("S2", text, theorem)
    wrong = Quotation(theorem.place, theorem.text.replace(r"u^{\frac{2}{v}}", r"u^{\frac{1}{1+v}}"))
    assert wrong != theorem
    assert not found_in("S2", text, wrong)
    assert not found_in("S2", text, Quotation("Theorem 4", theorem.text))  # the right words, another number
    assert not found_in("S2", text, Quotation(theorem.place, theorem.text.replace("sufficiently", "very")))


def test_a_formula_may_not_swallow_words():
    text = "we show that x=1𝑥1x=1 and that the bound y\\leq 2 holds"
    assert pattern("show that $x=1$ and that").search(text)
    assert not pattern("show that $y\\leq 2$ holds").search(text)
    assert pattern("show that [...] $y\\leq 2$ holds").search(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It halts by $t=2$.", "It halts by $t=2$."),
        (r"It is at most $t. \quad (10)$", r"It is at most $t. \quad (10)$"),
        ("It is at most $t,$", "It is at most $t,$ [...]"),
        ("and so it halts.", "[...] and so it halts."),
        ("$x=1$", "[...] $x=1$ [...]"),
        ("10: Play an arm", "10: Play an arm [...]"),
    ],
)
def test_a_quotation_is_shown_with_signs_where_it_is_cut(text, shown):
    assert excerpt(text) == shown
