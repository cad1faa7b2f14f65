"""Edges of verification: what is read, what must agree with what, and what two runs of an audit share."""

import functools
import hashlib
import json
from pathlib import Path
from unittest import mock

import pytest

from verifiable_dp.core.validate import InputError
from verifiable_dp.record import verify
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import canonical

PATH = Path(__file__).parents[3] / "reports" / "tree-sum" / "record.json"


@functools.cache
def _committed():
    return PATH.read_text("utf-8")


def record(**changes):
    """The committed record of a tree sum with changes."""
    return json.loads(_committed()) | changes


def refused(call, said):
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == said


# ---------------------------------------------------------------- what is read


def parsed(text):
    return verify.parsed("r.json", text.encode("utf-8", "surrogatepass"))


def nested(depth):
    """An object of so many levels, a number in the last."""
    text = "1"
    for level in range(depth - 1):
        text = f"[{text}]" if level % 2 else f'{{"a": {text}}}'
    return text if text.startswith("{") else f'{{"a": {text[1:-1]}}}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "record: 'r.json' is not a JSON object"),
        ('{"a": NaN}', "record: corrupted (NaN is not a JSON number)"),
        ('{"a": -Infinity}', "record: corrupted (-Infinity is not a JSON number)"),
        ('{"a": 1e999}', "record: corrupted (1e999 is not a finite number)"),
        ('{"a": -1.5e999}', "record: corrupted (-1.5e999 is not a finite number)"),
        (f'{{"a": {"7" * 301}}}', f"record: corrupted ({'7' * 30}... is too large for a float)"),
        ('{"a": 1, "b": 2, "b": 3, "a": 4}', "record: corrupted (key 'b' occurs twice in one object)"),
        ('{"c": {"a": 1, "a": 1}}', "record: corrupted (key 'a' occurs twice in one object)"),
        (
            f'{{"{"k" * 70}": 1, "{"k" * 70}": 1}}',
            f"record: corrupted (key '{'k' * 60}' occurs twice in one object)",
        ),
        ('{"a": "\\ud800"}', "record: 'r.json' is corrupted: it contains half of a surrogate pair"),
        (nested(66), "record: 'r.json' is nested too deeply"),
    ],
)
def test_what_is_no_record_is_refused(text, said):
    refused(lambda: parsed(text), said)


def test_what_is_just_within_the_limits_is_read():
    assert parsed(f'{{"a": {"7" * 300}}}') == {"a": int("7" * 300)}
    assert parsed('{"a": 1e308, "b": {"a": [1.5]}}') == {"a": 1e308, "b": {"a": [1.5]}}
    assert [verify._depth(value) for value in (1, [], [[]], {"a": [1]}, [1, {"a": 2}, []])] == [1, 1, 2, 3, 3]
    assert verify._depth(parsed(nested(64))) == 64


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is corrupted: "),
        ('{"a": 01}', "is corrupted: "),
        ('{"a": 1} x', "is corrupted: "),
        ("", "is not JSON, so it is not a record; "),
    ],
)
def test_what_is_no_json_is_corrupted(text, said):
    with pytest.raises(InputError, match=rf"^record: 'r\.json' {said}"):
        parsed(text)


def test_a_digest_is_that_of_all_other_values():
    values = {"a": 1, "b": [1.5, None]}
    digest = f"sha256:{hashlib.sha256(canonical(values).encode()).hexdigest()}"
    verify.check_digest({**values, "digest": digest})
    refused(
        lambda: verify.check_digest({**values, "a": 2, "digest": digest}, "errata"),
        f"errata: edited or corrupted (its digest is {verify.shortened(digest)}, but the digest of its "
        f"values is {verify.digest({'a': 2, 'b': [1.5, None]})})",
    )
    with pytest.raises(InputError, match=r"^record: edited or corrupted \(its digest is null, but"):
        verify.check_digest(values)


# ---------------------------------------------------------------- what must agree

VARIANT = {"of": "algorithm", "parameter": "noise", "stated": "nominal"}
ALIGNED = "record: power must agree with alignment, which finds any excess over the claim"
TRIED = "record: power.black_box must belong to a variant that was tried"
SAMPLED = "record: power must agree with power.black_box"
ROWS = [[1.5, 1.25, 0.5], [1.75, 1.6, 0.96]]


def power(by="alignment", sampled=(), **more):
    """Replays catch any excess over epsilon 1; samples a variant of epsilon 1.6 with power .96."""
    box = {"smallest_epsilon": 1.6, "probability": 0.95, "noise_divided_by": 1.75, "tried": ROWS}
    box |= {"repeats": 1, "repeats_refuted": 1} | dict(sampled)
    whole = {"by": by, "smallest_epsilon": 1 + 1e-9, "probability": 1.0, "largest": 1.0, "black_box": box}
    return whole | ({"smallest_epsilon": 1.6, "probability": 0.95} if by == "black_box" else {}) | more


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, ""),
        (power(), ""),
        (power(largest=0.5), ALIGNED),
        (power(smallest_epsilon=1 + 3e-9), ALIGNED),
        (power(smallest_epsilon=1 + 0.5e-9), ""),  # the same but for rounding
        (power(black_box=None), ""),
        (power(sampled={"noise_divided_by": 1.6}), TRIED),
        (power(sampled={"smallest_epsilon": 1.75}), TRIED),
        (power(sampled={"tried": [*ROWS, [1.75, 1.6, 0.5]]}), ""),  # the first of those that are equal
        (power(sampled={"tried": [[1.75, 1.6, 0.5], *ROWS]}), TRIED),
        (power(sampled={"noise_divided_by": 1.5}), TRIED),
        (power(sampled={"probability": 0.96}), ""),
        (power(sampled={"probability": 0.961}), TRIED),
        (power(sampled={"tried": [[1.75, "nan", 0.96]]}), ""),
        (power(sampled={"tried": [[1.75, "nan", 0.9]]}), TRIED),
        (power("black_box", largest=0.5, variant=VARIANT), ""),  # replays caught nothing
        (power("black_box", smallest_epsilon=1.5, variant=VARIANT), SAMPLED),
        (power("black_box", probability=0.9, variant=VARIANT), SAMPLED),
        (power("black_box", probability=0.9), ""),
        (power("black_box", probability=0.9, variant={**VARIANT, "stated": "event"}), ""),
        (power(variant=VARIANT), ""),
    ],
)
def test_a_power_is_that_of_the_check_that_it_names(given, said):
    found = Record.of(record(power=given))
    if said:
        refused(lambda: verify._powered(found), said)
    else:
        verify._powered(found)


@pytest.mark.parametrize("change", [{"visible": False}, {"max_cost": 0.5}])
def test_only_runs_that_are_seen_and_refute_nothing_have_such_a_power(change):
    checks = record()["checks"]
    aligned = [one for one in checks if one["kind"] == "alignment"]
    assert aligned
    for one in aligned:
        one["statistics"] |= change
    refused(lambda: verify._powered(Record.of(record(power=power(), checks=checks))), ALIGNED)


def test_checks_need_a_claim_and_a_claim_no_checks():
    refused(
        lambda: verify._examined(record(claim=None)),
        "record: claim must be given, because there are checks of the claim",
    )
    with mock.patch.object(verify, "_rejudge", return_value=7), mock.patch.object(verify, "_conclude"):
        assert verify._examined(record()) == 7
        assert verify._examined(record(checks=[], power=None, counterexamples=[])) == 7


def test_a_check_is_about_what_its_place_is_about():
    of_regret = record()["regret"]["checks"][0]
    whole = record(checks=[of_regret])
    refused(
        lambda: verify._rejudge(Record.of(whole), whole),
        f"record: checks.0.kind must be a kind of check about privacy, but {of_regret['kind']!r} is "
        "about regret",
    )
    places = [(place, about) for place, _, about in verify._all_checks(Record.of(record()))]
    counts = {about: sum(one == about for _, one in places) for _, about in places}
    mutants = record()["mutants"]
    of_mutants = sum(len(mutant["checks"]) for mutant in mutants if mutant["breaks"] == "privacy")
    assert counts["privacy"] == len(record()["checks"]) + of_mutants
    assert [place for place, _ in places[:2]] == ["checks.0", "checks.1"]
    assert verify._rejudge(Record.of(record()), record()) == len(places)
    with mock.patch.object(verify, "judged_again", side_effect=KeyError("n0")):
        refused(
            lambda: verify._rejudge(Record.of(record()), record()),
            "record: checks.0.statistics cannot be judged: KeyError('n0')",
        )


# ---------------------------------------------------------------- what two runs share


def test_what_two_runs_of_an_audit_share():
    seeded = {"name": "a", "kind": "b", "statistics": {"k": 1}, "result": {"verdict": "c", "p": 0.5}}
    drawn = {**seeded, "statistics": {"k": 1, "sampler": "s"}}
    free = dict.fromkeys(("provenance", "digest", "declarations", "kill_table"), 1)
    assert verify._comparable({**free, "x": 2, "checks": [seeded, drawn]}) == {
        "x": 2,
        "checks": [seeded, {"name": "a", "kind": "b", "verdict": "c"}],
    }


def test_versions_may_word_things_otherwise():
    """Words that are text, and where a counterexample was found; not what only has such a name."""
    found = {"check": "a", "instance": "i", "epsilon": 1.0, "rounds": 3, "event": "e", "pair": {"words": "w"}}
    given = {
        "counterexamples": [found],
        "mutants": [{"name": "m", "counterexample": found}, {"name": "n"}],
        "words": ["kept"],
        "more": [{"event": "gone", "epsilon": 2.0}, "pair"],
    }
    bare = {"check": "a", "pair": {}}
    assert verify._across_versions(given) == {
        "counterexamples": [bare],
        "mutants": [{"name": "m", "counterexample": bare}, {"name": "n"}],
        "words": ["kept"],
        "more": [{"epsilon": 2.0}, "pair"],
    }


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"numpy": "1"}, "the file was written with the library versions installed here (numpy 1)"),
        ({"numpy": "1", "scipy": "2"}, "the file was written with numpy 1, scipy 2; installed here: numpy 1"),
        ({"numpy": "2"}, "the file was written with numpy 2; installed here: numpy 1"),
        ({}, "the file was written with unknown library versions; installed here: others"),
        (None, "the file was written with unknown library versions; installed here: others"),
        ({"scipy": "2"}, "the file was written with scipy 2; installed here: others"),
    ],
)
def test_the_versions_of_libraries_are_named(written, said):
    with mock.patch.object(verify, "installed", lambda name: {"numpy": "1"}.get(name, "")):
        assert verify._libraries({"provenance": {"packages": written}}) == said
    assert len(verify._listed({"x" * 400: "1"})) == 300
    assert (
        verify._libraries({"provenance": 3})
        == "the file was written with unknown library versions; installed here: others"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("", False), "no signature was looked for; the runs were not repeated"),
        (("", True), "no signature was looked for; rerun: every count is the same"),
        (("signed", False, "row"), "signed; the runs were not repeated"),
        (("signed", True, "row"), "signed; rerun: every row is the same"),
    ],
)
def test_what_neither_digest_nor_schema_say(given, said):
    assert verify.said_of(*given) == said


@pytest.mark.parametrize(
    ("code", "again", "differs"),
    [
        ("1", {"code": "1"}, ""),
        ("1", {"code": "1", "words": "other"}, "record: a rerun differs: "),
        ("1", {"code": "2", "words": "other"}, ""),
        ("1", {"code": "2", "count": 4}, "record: a rerun differs: "),
    ],
)
def test_a_re_run_of_other_code_may_word_things_otherwise(code, again, differs):
    def made(code, words="a", count=3):
        return {
            "provenance": {"code": code},
            "checks": [],
            "counterexamples": [],
            "mutants": [],
            "pair": {"words": words, "count": count},
        }

    with mock.patch.object(verify, "examine", return_value=5):
        if differs:
            given, other = (made(**one)["pair"] for one in ({"code": code}, again))
            given, other = ({"pair": one} for one in (given, other))
            if code != again["code"]:
                given, other = ({"pair": {"count": one["pair"]["count"]}} for one in (given, other))
            refused(
                lambda: verify.verify(made(code), rerun=lambda record: made(**again)),
                differs + verify.first_difference(given, other),
            )
        else:
            found = verify.verify(made(code), rerun=lambda record: made(**again))
            assert (found.checks, found.rerun) == (5, True)
        assert verify.verify(made(code)).rerun is False
