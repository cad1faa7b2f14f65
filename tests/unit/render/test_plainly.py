"""Records in plain words: the paragraph at the top, the terms that a page uses, provenance."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.committed import each
from verifiable_dp.record.model import Record
from verifiable_dp.record.words import promises
from verifiable_dp.record.words import verdict as said_by_the_headline
from verifiable_dp.render import plainly
from verifiable_dp.render.markdown import to_markdown
from verifiable_dp.render.page import render

ROOT = Path(__file__).parents[3]
_AS_THEY_ARE = ("epsilon", "rung", "release", "transcript", "cost", "loss", "event", "power", "certified")
WORDS = {word: word for word in (*_AS_THEY_ARE, "delta")}
WORDS |= {"rho and mu": r"(rho|mu)\b", "premise": "(premise|assumption)"}


def load(name):
    return json.loads((ROOT / "reports" / name / "record.json").read_text("utf-8"))


def text(page):
    return " ".join(re.sub(r"<(style|svg)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL).split())


def section(page):
    """What stands under Words, and the page without it."""
    found = re.search(r'<section id="words">.*?</section>', page, re.DOTALL)
    return (found[0], page.replace(found[0], "")) if found else ("", page)


# ---------------------------------------------------------------- the paragraph


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "dp-se",
            "Replayed runs, the exact distribution, sampling and a conditional proof found no violation. If "
            "the",
        ),
        ("gaussian-ts", "Replayed runs, sampling and a conditional proof found no violation. If the"),
        (
            "dp-robust-elimination-printed",
            "No broken variants except versions with less noise were tried, so nothing shows that",
        ),
        ("dp-robust-elimination-printed", "Regret was not measured."),
        (
            "dp-se",
            "changing one reward of one round makes anything visible in the actions and "
            "every noisy statistic at most 2.72 times as likely (epsilon 1).",
        ),
        (
            "dp-se",
            "wrongly reject it at most once in 1,000,000 audits. Every other statement from samples holds",
        ),
        (
            "dp-linear-printed",
            "Replayed runs and sampling refuted the claim. If the claim is true,",
        ),
        ("ucb1", "Sampling refuted the yardstick. Measured regret"),
        (
            "shuffled-linear",
            "changing the rewards of one round (whichever action is played) makes anything visible "
            "in each batch of reports in shuffled order at most 54.6 times as likely, apart from an added "
            "probability of at most 1e-06",
        ),
    ],
)
def test_the_paragraph_says_what_the_summary_counts(name, words):
    record = load(name)
    assert words in " ".join(plainly.summary(Record.of(record)))
    assert words in text(render(Record.of(record), drawn=False))
    assert said_by_the_headline(Record.of(record)) not in " ".join(plainly.summary(Record.of(record)))
    assert "## In plain words" in to_markdown(Record.of(record))


def test_other_counts_are_other_words():
    record = load("dp-se")
    for check, verdict in zip(record["checks"], ("refuted", "inconclusive"), strict=False):
        check["result"]["verdict"] = verdict
    said = " ".join(plainly.summary(Record.of(record)))
    assert "Replayed runs refuted the claim. The exact distribution and sampling found no violation." in said
    record["claim"]["epsilon"] = 800.0
    assert "at most e^800 times as likely" in plainly.summary(Record.of(record))[0]


@pytest.mark.parametrize("name", each())
def test_nothing_is_called_private_or_compliant(name):
    record = load(name)
    for said in (
        *plainly.summary(Record.of(record)),
        *(words for _, words in plainly.terms(render(Record.of(record), drawn=False))),
    ):
        assert not re.search(r"\bprivate\b|complian|\bsafe\b", said)
    assert plainly.summary(Record.of(record))[0].startswith("The promise") == promises(Record.of(record))


def test_an_audit_of_regret_alone_explains_no_terms_of_privacy():
    record = load("dp-se")
    record |= {"checks": [], "claim": None, "power": None}
    assert plainly.summary(Record.of(record))[0].startswith(
        "Measured regret (the reward lost by not always playing the best arm) "
    )
    assert "## Words" not in to_markdown(Record.of(record))


# ---------------------------------------------------------------- the terms


@pytest.mark.parametrize("name", each())
def test_a_page_explains_the_words_that_it_uses_and_no_others(name):
    words, rest = section(render(Record.of(load(name))))
    explained = re.findall(r"<dt>(.*?)</dt>", words)
    before = text(rest.partition("<h2>Check this record")[0].replace("Words</a>", "")).lower()
    assert explained == [word for word, seen in WORDS.items() if re.search(rf"\b{seen}", before)]
    assert "power" in explained
    assert words.count("<dd>") == len(explained)
    assert rest.count('href="#words"') == 2  # from the contents, and where the terms begin
    document = to_markdown(Record.of(load(name)))
    listed = re.findall(r"^- \*\*(\w+)\*\*: ", document.partition("## Words")[2], re.MULTILINE)
    assert listed
    assert set(listed) <= set(explained)


def test_words_that_are_not_used_are_not_explained():
    assert plainly.terms("<p>Nothing of the kind.</p>") == []
    assert [word for word, _ in plainly.terms("<p class='loss'>Costs</p><style>.event {}</style>")] == [
        "cost"
    ]
    assert [word for word, _ in plainly.terms("<svg><text>power</text></svg>eventually")] == []
    for word, said in plainly.terms(" ".join(WORDS)):
        assert said.count(". ") <= 1, word
        assert said.endswith(".")


def test_a_record_cannot_put_its_own_section_there():
    record = load("dp-se")
    record["target"]["note"] = "<!--words--><!--to words--><section id=words>"
    page = render(Record.of(record), drawn=False)
    assert page.count('<section id="words">') == 1
    assert "&lt;!--words--&gt;" in page
    assert "<!--" not in page


# ---------------------------------------------------------------- provenance


def facts(**changes):
    record = load("dp-se")
    record["provenance"] |= changes
    return dict(plainly.provenance(Record.of(record)))


def test_what_is_unknown_or_none_is_said():
    found = facts(ci=None, dirty=False, commit="", target={"repository": "", "commit": "", "dirty": False})
    assert found["continuous integration"] == "none"
    names = ("commit of the tool", "uncommitted changes in the tool", "repository of the audited file")
    assert {found[name] for name in names} == {"unknown"}
    assert facts(dirty=True)["uncommitted changes in the tool"] == "yes"
    ours = {"repository": "", "commit": "c" * 40, "dirty": False}
    said = f"commit = {'c' * 40}, uncommitted changes = no, repository = unknown"
    assert facts(target=ours)["repository of the audited file"] == said
    run = {"provider": "gitlab-ci", "run_url": None}
    assert facts(ci=run)["continuous integration"] == "provider = gitlab-ci, run_url = none"
    assert facts(packages={"numpy": ""})["packages"] == "numpy = not installed"


@pytest.mark.parametrize("name", each())
def test_neither_face_shows_words_of_python(name):
    record = copy.deepcopy(load(name))
    record["provenance"] |= {"ci": None, "dirty": False, "commit": ""}
    page = render(Record.of(record), drawn=False)
    document = to_markdown(Record.of(record))
    for shown in (text(page[page.index("<h2>Provenance") :]), document[document.index("## Provenance") :]):
        assert not re.search(r"\b(None|True|False)\b|= *,|= *\||[{}]", shown)


def test_rows_of_provenance_stay_one_for_each_fact():
    record = load("dp-se")
    table = 1  # the digest of the kill table, which the record holds beside it
    assert len(plainly.provenance(Record.of(record))) == len(record["provenance"]) + table
    assert plainly.pairs({"a": [1.0, 2], "b": {"c": True}}) == "a = [1.0, 2], b (c = yes)"


def test_a_page_needs_nothing_else_to_have_been_imported():
    """Sentences of checks are registered by the modules of their judges."""
    lines = (
        "import json, pathlib",
        "from verifiable_dp.record.model import Record",
        "from verifiable_dp.render.page import render",
        f"path = pathlib.Path({str(ROOT / 'reports' / 'shuffled-linear' / 'record.json')!r})",
        "assert render(Record.of(json.loads(path.read_text('utf-8'))), drawn=False)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
