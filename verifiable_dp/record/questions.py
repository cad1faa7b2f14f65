"""The questions of a declarations file: what no audit can measure.

One `Question` each, with its words, the kind of its answer and its judge (`worth`). The schema of
declarations, the template, the form for a browser and every rendering come from `QUESTIONS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from verifiable_dp.core.validate import Json, JsonDict, JsonValue
from verifiable_dp.evidence.words import digits
from verifiable_dp.record import worth
from verifiable_dp.record.model import Record
from verifiable_dp.record.worth import AnswerState, Judge, lookup


@dataclass(frozen=True)
class Question:
    """A question about a deployment.

    Attributes
    ----------
    id
        Key of the answer, with the table that it stands in.
    brief, ask
        Its name in lists, and its words.
    form
        JSON Schema of an answer.
    example
        As TOML; words in angle brackets are a place to fill in.
    section
        Of Article 35(7) of the GDPR, ``a`` to ``d``; empty for what is about the report itself.
    judge
        What an answer is worth beside a record, and why.
    hint
        How to answer, for the template and the form.
    """

    id: str
    brief: str
    ask: str
    form: Json
    example: str
    section: str
    judge: Judge
    hint: str = ""


@dataclass(frozen=True)
class Answer:
    """An answer to a question: its words, what it is worth, and why; without words it was not given."""

    question: Question
    words: str
    state: AnswerState
    why: str

    @property
    def given(self) -> bool:
        """Whether there is one."""
        return bool(self.words)


# ---------------------------------------------------------------- kinds of answers


def _object(required: tuple[str, ...], **properties: Json) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def _listed(item: Json) -> Json:
    return {"type": "array", "items": item}


def _one_of(*values: str) -> Json:
    return {"enum": list(values)}


_TEXT: Json = {"type": "string", "minLength": 1}
_FREE: Json = {"type": "string"}
_YES_NO: Json = {"type": "boolean"}
_NUMBERS = _listed({"anyOf": [{"type": "number"}, _listed({"type": "number"})]})
_WORLD: Json = {"anyOf": [_TEXT, {**_NUMBERS, "minItems": 1}]}
_READERS = _one_of("trusted", "others", "public")
_OUTPUT: Json = {"anyOf": [_TEXT, _object(("what", "readers"), what=_TEXT, readers=_READERS)]}
_ACTOR = _object(("role", "trusted"), role=_TEXT, trusted=_YES_NO, assumption=_TEXT)
_PAIR = _object(("world_0", "world_1"), harm=_TEXT, world_0=_WORLD, world_1=_WORLD)


def _count(least: int, most: int) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


DAY = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"  # pattern of a date
_DAY: Json = {
    "type": "string",
    "pattern": DAY,
    "description": "Last day (UTC) on which to rely on the record; `verify` and `judge` refuse it "
    "afterwards.",
}


# ---------------------------------------------------------------- the table


QUESTIONS = (
    Question(
        "expires",
        "expiry",
        "What is the last day on which people may rely on the record?",
        _DAY,
        "2030-12-31",
        "d",
        worth.expires,
        "Afterwards, verify and judge refuse the record.",
    ),
    Question(
        "unprotected_outputs",
        "other outputs of the data",
        "Which outputs of the same data does the promise not cover (logs, raw rewards, dashboards), and who "
        "reads each: trusted, others or public?",
        _listed(_OUTPUT),
        '[{ what = "<server logs with raw rewards>", readers = "trusted" }]',
        "c",
        worth.outputs,
        "An empty list, [], declares that there are none.",
    ),
    Question(
        "deployment.description", "purpose", "What is the system for?", _TEXT, '"<purpose>"', "a", worth.told
    ),
    Question(
        "deployment.model",
        "trust model",
        "Who sees raw rewards: a central curator, nobody (local), a shuffler?",
        _one_of("central", "local", "shuffle", "other"),
        '"central"',
        "a",
        worth.model,
    ),
    Question(
        "deployment.query_model",
        "query model",
        "Does each answer depend on earlier answers?",
        _one_of("interactive", "non-interactive"),
        '"interactive"',
        "a",
        worth.interactive,
    ),
    Question(
        "deployment.release_type",
        "releases",
        "How often is something released?",
        _one_of("one release", "many releases", "continual release"),
        '"continual release"',
        "a",
        worth.noted,
    ),
    Question(
        "deployment.data_source",
        "growth of the data",
        "Do the data stay the same (static) or grow (dynamic)?",
        _one_of("static", "dynamic"),
        '"dynamic"',
        "a",
        worth.noted,
    ),
    Question(
        "deployment.production_commit",
        "commit in production",
        "Which commit runs in production?",
        {"type": "string", "pattern": f"^[0-9a-fA-F]{{{worth.COMMIT},64}}$"},
        f'"{"0123abcd" * 5}"',
        "d",
        worth.commit,
        "It must be the audited commit, given in full.",
    ),
    Question(
        "actors",
        "actors and trust",
        "Who takes part, who is trusted, and what does each see?",
        _listed(_ACTOR),
        '[{ role = "curator", trusted = true, assumption = "<runs the code unmodified>" }, '
        '{ role = "reader of the recommendations", trusted = false, assumption = "sees all actions" }]',
        "a",
        worth.actors,
    ),
    Question(
        "threat_hypotheses",
        "harm to prevent",
        "Which harm must be prevented, described as two worlds that must look the same to everyone?",
        _listed(_PAIR),
        '[{ harm = "<a reader finds out that one visitor clicked in round 2>", '
        "world_0 = [[0.0, 1.0], [0.0, 0.0]], world_1 = [[0.0, 1.0], [1.0, 0.0]] }]",
        "c",
        worth.worlds,
        "We check that worlds given as numbers (a list of rewards, or a row for each round) are neighbours.",
    ),
    Question(
        "contribution.max_rounds_per_user",
        "rounds of one person",
        "In how many rounds are one person's rewards used, at most?",
        _count(1, 1_000_000_000),
        "10",
        "b",
        worth.rounds,
    ),
    Question(
        worth.CAP,
        "what enforces the cap",
        "What enforces the limit on one person's rounds, or on the total?",
        _TEXT,
        '"<a cap per account in the event pipeline>"',
        "d",
        worth.enforced,
    ),
    Question(
        "accounting.why_epsilon",
        "why this epsilon",
        "Why this epsilon, and not a smaller one?",
        _TEXT,
        '"<why>"',
        "b",
        worth.told,
    ),
    Question(
        worth.TOTAL,
        "total epsilon of one person",
        "How much epsilon can one person use at most, over all months and systems?",
        {"type": "number", "exclusiveMinimum": 0},
        "4.0",
        "c",
        worth.total,
    ),
    Question(
        "accounting.total_covers",
        "what the total covers",
        "Which months and which systems does that total cover?",
        _TEXT,
        '"<months and systems>"',
        "c",
        worth.told,
    ),
    Question(
        "accounting.composition",
        "composition",
        "How are the costs of all releases composed?",
        _TEXT,
        '"<one budget for the whole horizon>"',
        "d",
        worth.told,
    ),
    Question(
        "accounting.post_processing",
        "post-processing",
        "What is done to the releases afterwards (clipping, rounding)?",
        _TEXT,
        '"none"',
        "d",
        worth.noted,
    ),
    Question(
        "accounting.tool",
        "accounting tool",
        "Which tool keeps track of the privacy budget?",
        _TEXT,
        '"none"',
        "d",
        worth.noted,
    ),
    Question(
        "data_security.encrypted",
        "encryption",
        "Are raw data encrypted, both at rest and in transit?",
        _YES_NO,
        "true",
        "d",
        worth.encrypted,
    ),
    Question(
        "data_security.statement",
        "data security",
        "How are raw data secured?",
        _TEXT,
        '"<raw rewards are encrypted at rest>"',
        "d",
        worth.measure("data_security.encrypted", worth.encrypted),
    ),
    Question(
        "data_security.reference",
        "source on security",
        "Where is the security of raw data documented?",
        _FREE,
        '"<security concept, section 4>"',
        "",
        worth.noted,
    ),
    Question(
        worth.READERS,
        "readers of raw data",
        "Who can read raw rewards or the state of the algorithm?",
        _one_of("nobody", "named people", "anyone"),
        '"named people"',
        "d",
        worth.readers,
    ),
    Question(
        "access_control.statement",
        "access control",
        "How is access to raw data controlled?",
        _TEXT,
        '"<two operators may read raw rewards; reads are logged>"',
        "d",
        worth.measure(worth.READERS, worth.readers),
    ),
    Question(
        "access_control.reference",
        "source on access",
        "Where is access to raw data documented?",
        _FREE,
        '"<access policy>"',
        "",
        worth.noted,
    ),
    Question(
        "data_minimisation.kept_days",
        "retention",
        "For how many days are raw data kept?",
        _count(0, 1_000_000),
        "1",
        "b",
        worth.kept,
        "1000000 means forever.",
    ),
    Question(
        "data_minimisation.statement",
        "data minimisation",
        "Which data are collected, and what happens to them?",
        _TEXT,
        '"<clicks without addresses, deleted after a day>"',
        "b",
        worth.measure("data_minimisation.kept_days", worth.kept),
    ),
    Question(
        "data_minimisation.reference",
        "source on minimisation",
        "Where are the rules for retention documented?",
        _FREE,
        '"<retention schedule>"',
        "",
        worth.noted,
    ),
    Question(
        "assessment.necessity",
        "necessity",
        "Why does this purpose need these data?",
        _TEXT,
        '"<why>"',
        "b",
        worth.told,
    ),
    Question(
        "assessment.risk",
        "risk in human terms",
        "What can happen to a person, how likely is it, and how severe? Use words that this person knows.",
        _TEXT,
        '"<what can happen>"',
        "c",
        worth.told,
    ),
    Question(
        "assessment.controller",
        "controller",
        "Who is the controller?",
        _TEXT,
        '"<name>"',
        "a",
        worth.told,
    ),
    Question(
        "assessment.legal_basis",
        "legal basis",
        "What is the legal basis?",
        _TEXT,
        '"<article>"',
        "b",
        worth.told,
    ),
    Question(
        "administrative.status",
        "status",
        "Is the report a draft, or final?",
        _one_of("draft", "final"),
        '"draft"',
        "",
        worth.noted,
    ),
    Question(
        "administrative.tier",
        "tier",
        "What is the report's tier in a registry, 1 to 3?",
        _count(1, 3),
        "1",
        "",
        worth.noted,
    ),
    Question(
        "administrative.authors",
        "authors",
        "Who is responsible for these declarations?",
        _listed(_TEXT),
        '["<name>"]',
        "",
        worth.noted,
    ),
    Question(
        "administrative.reviewers",
        "independent reviewer",
        "Who reviewed them independently?",
        _listed(_TEXT),
        '["<name>"]',
        "d",
        worth.reviewers,
    ),
    Question(
        "administrative.sources",
        "sources",
        "Which documents?",
        _listed(_TEXT),
        '["<document>"]',
        "",
        worth.noted,
    ),
    Question(
        "administrative.notes",
        "notes",
        "Anything else?",
        _FREE,
        '"<notes>"',
        "",
        worth.noted,
    ),
)


# ---------------------------------------------------------------- what follows from it


def tables() -> dict[str, list[Question]]:
    """Questions by the table of their answers; first those whose answers stand in none."""
    found: dict[str, list[Question]] = {"": []}
    for one in QUESTIONS:
        found.setdefault(one.id.rpartition(".")[0], []).append(one)
    return found


def form() -> JsonDict:
    """JSON Schema of declarations."""
    keys: JsonDict = {}
    for table, asked in tables().items():
        entries = {one.id.rpartition(".")[2]: one.form for one in asked}
        keys |= {table: _object((), **entries)} if table else entries
    said = "What the user states about the deployment; judged if a rule can judge it, never evidence."
    return {**_object((), **keys), "description": said}


def answers(record: Record) -> tuple[Answer, ...]:
    """The answer to every question; of one that is not answered, that it is not declared."""
    return tuple(_answer(one, lookup(record.declared, one.id), record) for one in QUESTIONS)


def _answer(question: Question, value: JsonValue, record: Record) -> Answer:
    if value is None:
        return Answer(question, "", worth.OPEN, "not declared")
    return Answer(question, in_words(value) or '""', *question.judge(value, record))


def holes(record: Record) -> tuple[Answer, ...]:
    """The answers that contradict the promise or void it."""
    return tuple(one for one in answers(record) if one.state is worth.HOLE) if record.declared else ()


def brief(found: Iterable[Answer]) -> str:
    """Which questions these are, by name."""
    return ", ".join(one.question.brief for one in found)


def in_words(value: JsonValue) -> str:
    """An answer as it is shown."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key.replace('_', ' ')}: {in_words(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        if value and all(
            isinstance(item, int | float | list) and not isinstance(item, bool) for item in value
        ):
            shown = str(value)
            return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]} …"
        return "; ".join(map(in_words, value)) or "none"
    return digits(value) if isinstance(value, int | float) else str(value)


_SHOWN = 120  # characters of a world in numbers
