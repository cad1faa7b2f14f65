"""The questions of a declarations file: what no audit can measure, and what each answer is worth.

One `Question` each, with its words, the kind of its answer and its judge. The schema of declarations, the
template, the form for a browser, the annexes and every other rendering come from `QUESTIONS`. Where an answer
can void the promise, words alone settle nothing: they are read against whoever declares, never in favour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from verifiable_dp.core.claims import Relation, group_table
from verifiable_dp.core.validate import Json, JsonDict, JsonValue
from verifiable_dp.evidence.words import digits
from verifiable_dp.record.model import Record
from verifiable_dp.record.worlds import neighbouring, range_of


class AnswerState(StrEnum):
    """What an answer is worth."""

    ACCEPTABLE = "acceptable"
    HOLE = "hole"  # contradicts the promise, or voids it
    OPEN = "open"


Judged = tuple[AnswerState, str]
Judge = Callable[[JsonValue, Record], Judged]


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


_OK, _HOLE, _OPEN = AnswerState.ACCEPTABLE, AnswerState.HOLE, AnswerState.OPEN
VOID = 10.0  # of one person: above it a coin-toss guess becomes a certainty of more than 99.99 %
_LONG = 365  # days
_COMMIT = 7  # characters that tell commits apart


# ---------------------------------------------------------------- the words of others


def _any_of(*said: str) -> re.Pattern[str]:
    """Finds these words of a declarer, in whatever case; a blank is one or none."""
    return re.compile(rf"\b({'|'.join(one.replace(' ', ' ?') for one in said)})\b", re.IGNORECASE)


_NOTHING = re.compile(r"\W*(none|no|nothing|nobody|n/?a|nil|unknown|tbd|todo)?\W*", re.IGNORECASE)
_ANYONE = _any_of(
    *("every one", "any one", "every body", "any body", r"public\w*", r"publish\w*", "world.readable"),
    "all (users|staff|employees|visitors|readers)",
)
_PERSONS = _any_of("user.?ids?", "(with|by) (ids?|names?)", "names of", "addresses", "e-?mails?")
_FOR_EVER = _any_of(
    *("for ever", r"indefinite\w*", "never (deleted|erased)", "no (limit|deletion|expiry)", "unlimited"),
    r"permanent\w*",
)
_RAW = _any_of("raw")
_DENIED = re.compile(r"\b(no|not|nobody|never|nor|neither|without|non)\b[\w\s,-]{0,20}$", re.IGNORECASE)


def _says(text: str, *patterns: re.Pattern[str]) -> str:
    """What a text admits: the first match that is not denied before it; empty without one."""
    for pattern in patterns:
        for found in pattern.finditer(text):
            if not _DENIED.search(text[: found.start()]):
                return found[0]
    return ""


# ---------------------------------------------------------------- judges


def _told(value: JsonValue, record: Record) -> Judged:
    """Words, which nothing checks."""
    if isinstance(value, str) and _NOTHING.fullmatch(value):
        return _OPEN, "the answer says nothing"
    return _OK, "as declared; nothing was checked"


def _noted(value: JsonValue, record: Record) -> Judged:
    """An answer that may well be "none"."""
    return _OK, "as declared; nothing was checked"


def _measure(*patterns: re.Pattern[str], typed: str) -> Judge:
    """Words on a measure of protection: none is a hole, and only the typed answer beside them settles it."""

    def judged(value: JsonValue, record: Record) -> Judged:
        if _NOTHING.fullmatch(value):
            return _HOLE, "there is no such protection"
        if admitted := _says(value, *patterns):
            return _HOLE, f'it says "{admitted}"'
        if lookup(record.declared, typed) is None:
            return _OPEN, f"words cannot be judged; answer {typed}, too"
        return _told(value, record)

    return judged


def _either(bad: JsonValue, why: str) -> Judge:
    """An answer of a few, of which one is a hole."""
    return lambda value, _: (_HOLE, why) if value == bad else (_OK, "as declared; nothing was checked")


def _outputs(value: JsonValue, record: Record) -> Judged:
    worst: Judged = (_OK, "as declared: no reader beyond those that are trusted")
    for one in value:
        found = _output(one)
        if found[0] is _HOLE:
            return found
        worst = found if found[0] is _OPEN else worst
    return worst


def _output(one: JsonValue) -> Judged:
    what, readers = (one, None) if isinstance(one, str) else (one["what"], one["readers"])
    if readers not in (None, "trusted"):
        return _HOLE, f"{readers} read it: {what}; the promise does not cover it"
    if admitted := _says(what, _ANYONE, _PERSONS):
        return _HOLE, f'it says "{admitted}": {what}; the promise does not cover it'
    return (_OPEN, f"who reads it is not said (readers): {what}") if readers is None else (_OK, "")


def _model(value: JsonValue, record: Record) -> Judged:
    model = record.claim.trust_model if record.claim else value
    if value != model:
        return _HOLE, f"the promise is one of the {model} model"
    return _OK, "it does not contradict the promise"


def _actors(value: JsonValue, record: Record) -> Judged:
    if not value:
        return _OPEN, "nobody is named"
    if record.claim and record.claim.trust_model == "central" and not any(a["trusted"] for a in value):
        return _HOLE, "the central model needs a trusted curator, and no actor is trusted"
    for actor in value:
        if not actor["trusted"] and _says(actor.get("assumption", ""), _RAW):
            return _HOLE, f"{actor['role']} is not trusted and sees raw data"
    return _OK, "it does not contradict the promise"


def _worlds(value: JsonValue, record: Record) -> Judged:
    if record.claim is None:
        return _OPEN, "there is no promise to hold them against"
    for number, pair in enumerate(value, 1):
        held, why = neighbouring(pair["world_0"], pair["world_1"], record.claim, range_of(record))
        if held is False:
            return _HOLE, f"{pair.get('harm', f'pair {number}')}: not neighbours under the promise ({why})"
    return (_OK, "none lies outside the promise") if value else (_OPEN, "no harm is named")


def _rounds(value: JsonValue, record: Record) -> Judged:
    if record.claim is None:
        return _OPEN, "there is no promise to multiply"
    claim = record.claim.value
    if claim.relation != Relation():
        size = record.claim.size
        return (
            (_OK, f"the unit is {size}") if value <= size else (_HOLE, f"the promise is for {size} at most")
        )
    (row,) = group_table(claim, [value])
    spent = f"{value} round{'s' * (value > 1)} of one person cost epsilon {digits(row['epsilon'])}"
    if row["epsilon"] <= VOID and row["delta"] < 1:
        return _OK, spent
    total, enforced = (lookup(record.declared, key) for key in (_TOTAL, _CAP))
    if total is None:
        return _HOLE, f"{spent}, and no total is declared"
    if enforced is None or _NOTHING.fullmatch(enforced):
        return _HOLE, f"{spent}, and nothing enforces the total"
    return _OK, f"{spent}; the declared total ends before"


_TOTAL, _CAP = "accounting.total_epsilon", "contribution.enforced_by"


def _total(value: JsonValue, record: Record) -> Judged:
    if value > VOID:
        return _HOLE, f"epsilon {digits(value)} for a person is above {VOID:g}: it protects nobody"
    if record.claim and value < record.claim.epsilon:
        return _HOLE, f"the promise alone spends epsilon {digits(record.claim.epsilon)}"
    return _OK, "as declared; nothing was checked"


def _kept(value: JsonValue, record: Record) -> Judged:
    if value > _LONG:
        return _OPEN, f"{value} days are more than {_LONG}; say in the statement why"
    return _OK, "as declared; nothing was checked"


def _commit(value: JsonValue, record: Record) -> Judged:
    facts = record.provenance
    place = facts if record.target.ours else facts.target
    if not place.commit or place.dirty:
        return _OPEN, "the commit that was audited is not known"
    if not place.commit.startswith(value.lower()):
        return _HOLE, f"the audit was of commit {place.commit[:12]}"
    return _OK, "it is the commit that was audited"


def _expires(value: JsonValue, record: Record) -> Judged:
    if value < record.provenance.finished[:10]:
        return _HOLE, "it expired before the audit"
    return _OK, "audit again by then"


def _reviewers(value: JsonValue, record: Record) -> Judged:
    own = [name for name in value if name in (lookup(record.declared, "administrative.authors") or ())]
    if own or not value:
        return _OPEN, f"not independent: {own[0]} is an author" if own else "nobody reviewed it"
    return _OK, "as declared; nothing was checked"


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


# ---------------------------------------------------------------- the table


QUESTIONS = (
    Question(
        "unprotected_outputs",
        "other outputs of the data",
        "Which outputs of the same data does the promise not cover (logs, raw rewards, dashboards), and who "
        "reads each: trusted, others or public?",
        _listed(_OUTPUT),
        '[{ what = "<server logs with raw rewards>", readers = "trusted" }]',
        "c",
        _outputs,
        "An empty list, [], declares that there are none.",
    ),
    Question(
        "deployment.description", "purpose", "What is the system for?", _TEXT, '"<purpose>"', "a", _told
    ),
    Question(
        "deployment.model",
        "trust model",
        "Who sees raw rewards: a central curator, nobody (local), a shuffler?",
        _one_of("central", "local", "shuffle", "other"),
        '"central"',
        "a",
        _model,
    ),
    Question(
        "deployment.query_model",
        "query model",
        "Does each answer depend on those before?",
        _one_of("interactive", "non-interactive"),
        '"interactive"',
        "a",
        _noted,
    ),
    Question(
        "deployment.release_type",
        "releases",
        "How often is something released?",
        _one_of("one release", "many releases", "continual release"),
        '"continual release"',
        "a",
        _noted,
    ),
    Question(
        "deployment.data_source",
        "growth of the data",
        "Do the data stay as they are (static), or do they grow (dynamic)?",
        _one_of("static", "dynamic"),
        '"dynamic"',
        "a",
        _noted,
    ),
    Question(
        "deployment.production_commit",
        "commit in production",
        "Which commit runs in production?",
        {"type": "string", "pattern": f"^[0-9a-fA-F]{{{_COMMIT},64}}$"},
        '"0123abcd"',
        "d",
        _commit,
        "It must be the audited one.",
    ),
    Question(
        "actors",
        "actors and trust",
        "Who takes part, who is trusted, and what does each see?",
        _listed(_ACTOR),
        '[{ role = "curator", trusted = true, assumption = "<runs the code unmodified>" }, '
        '{ role = "reader of the recommendations", trusted = false, assumption = "sees all actions" }]',
        "a",
        _actors,
    ),
    Question(
        "threat_hypotheses",
        "harm to prevent",
        "Which harm is to be prevented, as two worlds that must not be told apart?",
        _listed(_PAIR),
        '[{ harm = "<a reader finds out that one visitor clicked in round 2>", '
        "world_0 = [[0.0, 1.0], [0.0, 0.0]], world_1 = [[0.0, 1.0], [1.0, 0.0]] }]",
        "c",
        _worlds,
        "Worlds in numbers (a list of rewards, or a row for each round) are checked to be neighbours.",
    ),
    Question(
        "contribution.max_rounds_per_user",
        "rounds of one person",
        "In how many rounds are one person's rewards used, at most?",
        _count(1, 1_000_000_000),
        "10",
        "b",
        _rounds,
    ),
    Question(
        _CAP,
        "what enforces the cap",
        "What enforces the most rounds, or the total, of one person?",
        _TEXT,
        '"<a cap per account in the event pipeline>"',
        "d",
        lambda value, _: (
            (_HOLE, "nothing enforces it") if _NOTHING.fullmatch(value) else (_OK, "as declared")
        ),
    ),
    Question(
        "accounting.why_epsilon",
        "why this epsilon",
        "Why this epsilon, and not a smaller one?",
        _TEXT,
        '"<why>"',
        "b",
        _told,
    ),
    Question(
        _TOTAL,
        "total epsilon of one person",
        "What is the most epsilon that one person spends, over all months and systems?",
        {"type": "number", "exclusiveMinimum": 0},
        "4.0",
        "c",
        _total,
    ),
    Question(
        "accounting.total_covers",
        "what the total covers",
        "Which months and which systems does that total cover?",
        _TEXT,
        '"<months and systems>"',
        "c",
        _told,
    ),
    Question(
        "accounting.composition",
        "composition",
        "How are the costs of all releases composed?",
        _TEXT,
        '"<one budget for the whole horizon>"',
        "d",
        _told,
    ),
    Question(
        "accounting.post_processing",
        "post-processing",
        "What is done to the releases afterwards (clipping, rounding)?",
        _TEXT,
        '"none"',
        "d",
        _noted,
    ),
    Question(
        "accounting.tool", "accounting tool", "Which tool keeps the account?", _TEXT, '"none"', "d", _noted
    ),
    Question(
        "data_security.encrypted",
        "encryption of raw data",
        "Are raw data encrypted, stored and on their way?",
        _YES_NO,
        "true",
        "d",
        _either(False, "raw data are not encrypted"),
    ),
    Question(
        "data_security.statement",
        "data security",
        "How are raw data secured?",
        _TEXT,
        '"<raw rewards are encrypted at rest>"',
        "d",
        _measure(_ANYONE, typed="data_security.encrypted"),
    ),
    Question(
        "data_security.reference",
        "source on security",
        "Where is that written down?",
        _FREE,
        '"<security concept, section 4>"',
        "",
        _noted,
    ),
    Question(
        "access_control.readers",
        "readers of raw data",
        "Who can read raw rewards or the state of the algorithm?",
        _one_of("nobody", "named people", "anyone"),
        '"named people"',
        "d",
        _either("anyone", "anyone can read raw data"),
    ),
    Question(
        "access_control.statement",
        "access control",
        "How is access to raw data controlled?",
        _TEXT,
        '"<two operators may read raw rewards; reads are logged>"',
        "d",
        _measure(_ANYONE, typed="access_control.readers"),
    ),
    Question(
        "access_control.reference",
        "source on access",
        "Where is that written down?",
        _FREE,
        '"<access policy>"',
        "",
        _noted,
    ),
    Question(
        "data_minimisation.kept_days",
        "days that raw data are kept",
        "For how many days are raw data kept?",
        _count(0, 1_000_000),
        "1",
        "b",
        _kept,
    ),
    Question(
        "data_minimisation.statement",
        "data minimisation",
        "Which data are collected, and what happens to them?",
        _TEXT,
        '"<clicks without addresses, deleted after a day>"',
        "b",
        _measure(_FOR_EVER, typed="data_minimisation.kept_days"),
    ),
    Question(
        "data_minimisation.reference",
        "source on minimisation",
        "Where is that written down?",
        _FREE,
        '"<retention schedule>"',
        "",
        _noted,
    ),
    Question(
        "assessment.necessity",
        "necessity",
        "Why does this purpose need these data?",
        _TEXT,
        '"<why>"',
        "b",
        _told,
    ),
    Question(
        "assessment.risk",
        "risk in human terms",
        "What can happen to a person, in words that person understands, how likely and how severe?",
        _TEXT,
        '"<what can happen>"',
        "c",
        _told,
    ),
    Question("assessment.controller", "controller", "Who is the controller?", _TEXT, '"<name>"', "a", _told),
    Question(
        "assessment.legal_basis",
        "legal basis",
        "What is the legal basis?",
        _TEXT,
        '"<article>"',
        "b",
        _told,
    ),
    Question(
        "administrative.expires",
        "expiry",
        "When does this evidence expire (YYYY-MM-DD)?",
        {"type": "string", "pattern": r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"},
        '"2099-12-31"',
        "d",
        _expires,
    ),
    Question(
        "administrative.status",
        "status",
        "Is the report a draft, or final?",
        _one_of("draft", "final"),
        '"draft"',
        "",
        _noted,
    ),
    Question("administrative.tier", "tier", "Its tier in a registry, 1 to 3?", _count(1, 3), "1", "", _noted),
    Question(
        "administrative.authors",
        "authors",
        "Who answers for these declarations?",
        _listed(_TEXT),
        '["<name>"]',
        "",
        _noted,
    ),
    Question(
        "administrative.reviewers",
        "independent reviewer",
        "Who reviewed them independently?",
        _listed(_TEXT),
        '["<name>"]',
        "d",
        _reviewers,
    ),
    Question(
        "administrative.sources", "sources", "Which documents?", _listed(_TEXT), '["<document>"]', "", _noted
    ),
    Question("administrative.notes", "notes", "Anything else?", _FREE, '"<notes>"', "", _noted),
)


# ---------------------------------------------------------------- what follows from it


def lookup(declared: Json, key: str) -> JsonValue:
    """The answer at a dotted key; None without one."""
    found: JsonValue = declared
    for part in key.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = found[part]
    return found


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
    said = "What the user states of the deployment; judged where a rule can, never evidence."
    return {**_object((), **keys), "description": said}


def answers(record: Record) -> tuple[Answer, ...]:
    """The answer to every question; of one that is not answered, that it is not declared."""
    return tuple(_answer(one, lookup(record.declared, one.id), record) for one in QUESTIONS)


def _answer(question: Question, value: JsonValue, record: Record) -> Answer:
    if value is None:
        return Answer(question, "", _OPEN, "not declared")
    return Answer(question, in_words(value) or '""', *question.judge(value, record))


def holes(record: Record) -> tuple[Answer, ...]:
    """The answers that contradict the promise or void it."""
    return tuple(one for one in answers(record) if one.state is _HOLE) if record.declared else ()


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
