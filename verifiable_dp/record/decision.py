"""What a record decides: one value that every rendering, exit status and statement asks for.

It follows from the record alone; what it is called in words is made where it is shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from verifiable_dp.core.units import Role
from verifiable_dp.evidence import exclusions, upper
from verifiable_dp.evidence.premises import Taken
from verifiable_dp.record import conclude, kills, questions
from verifiable_dp.record.model import Passed, Power, Record, SampledPower
from verifiable_dp.record.requests import REQUIRED

NOTHING = "nothing"  # what an undecided promise rests on
WEAK = 1.5  # a leak of so many times the claim that could pass makes an audit weak
# Exit status of a verdict: 0 where nothing speaks against a claim, 1 where something refutes it, 3 if open.
_GROUNDS = dict(zip(("detectable", "n paths", "every path", "certified"), REQUIRED, strict=True))
_OPEN = 3
EXIT = {"not_refuted": 0, "refuted": 1, "inconclusive": 3, "consistent": 0, "contradicted": 1, "vacuous": 3}


@dataclass(frozen=True)
class Decision:
    """What a record decides.

    Attributes
    ----------
    privacy, regret
        The verdicts; None of what was not looked at.
    strength
        ``strong``, ``weak`` (a leak of `WEAK` times the claim or a broken variant could pass), or ``none``
        where the question does not arise.
    scope
        Of the upper bound that stands; None without one.
    reason
        Why privacy is inconclusive.
    role
        Of the target.
    ratio
        The smallest leak that is known to be caught, in units of the claim.
    passed
        Broken variants that make the audit weak, with their epsilon; None where it is not known.
    faults
        How many mutants of the audit's own were not caught.
    open_items
        What the audit says nothing about and nothing in the record settles: ids of exclusions.
    ground
        What a promise that is not refuted rests on: the scope of an upper bound within it, or ``detectable``
        where only samples speak; else None.
    require
        The weakest evidence that the request counts as enough, one of `REQUIRED`.
    """

    privacy: str | None
    regret: str | None
    strength: str
    scope: str | None
    reason: str | None
    role: Role
    ratio: float
    passed: tuple[tuple[str, float | None], ...]
    faults: int
    open_items: tuple[str, ...]
    ground: str | None = None
    holes: tuple[str, ...] = ()
    require: str = REQUIRED[0]

    def short_of(self, require: str) -> str:
        """What a promise rests on that is not refuted, if less than `require`, one of `REQUIRED`; else empty.

        What is undecided rests on nothing.
        """
        if self.ground is None:
            return NOTHING if self.privacy == "inconclusive" and require != REQUIRED[0] else ""
        less = REQUIRED.index(self.evidence) < REQUIRED.index(require)
        return self.evidence if less else ""

    @property
    def evidence(self) -> str:
        """What a promise that is not refuted rests on, in the words of `REQUIRED`."""
        return NOTHING if self.ground is None else _GROUNDS[self.ground]

    @property
    def short(self) -> str:
        """See `short_of`, of what the request requires."""
        return self.short_of(self.require)

    @property
    def main(self) -> str | None:
        """The verdict on privacy, or that on regret of what was checked for regret alone."""
        return self.privacy or self.regret

    @property
    def weak(self) -> bool:
        """Whether an audit that found nothing might have missed much."""
        return self.privacy == "not_refuted" and self.strength == "weak"

    @property
    def colour(self) -> str:
        """The verdict in whose colour a page shows it: no baseline or weak audit is green, a hole is red.

        Nor is what contradicts a claim on regret or leaves one open, or rests on less than is required.
        """
        if self.holes:
            return "hole"
        if self.regret == "contradicted" and self.privacy != "refuted":
            return self.regret
        undecided = self.weak or bool(self.short) or (self.role is Role.BASELINE and self.privacy is not None)
        undecided |= self.privacy == "not_refuted" and self.regret_status == _OPEN
        return "inconclusive" if undecided else self.main or ""

    @property
    def result(self) -> str:
        """``failed``, ``undecided`` or ``passed``, for formats that know nothing else."""
        if self.privacy == "refuted" or self.regret == "contradicted" or self.holes:
            return "failed"
        verdicts = [verdict for verdict in (self.privacy, self.regret) if verdict]
        held = bool(verdicts) and not any(EXIT[verdict] for verdict in verdicts)
        return "undecided" if not held or self.weak or self.faults or self.short else "passed"

    @property
    def exit_code(self) -> int:
        """0 where nothing speaks against the claims, 1 where something refutes or voids one, 3 if open.

        Open is also a claim about regret beside privacy, and what rests on less than the request requires.
        """
        statuses = [EXIT[self.main or "inconclusive"], self.regret_status, _OPEN * bool(self.short)]
        return 1 if self.holes or 1 in statuses else max(statuses)

    @property
    def regret_status(self) -> int:
        """The same of the verdict on regret; 0 where that was not looked at."""
        return EXIT[self.regret] if self.regret else 0


def decision(record: Record) -> Decision:
    """What a record decides."""
    audited, role = record.audited, record.target.role
    privacy = record.verdict if audited else None
    asked = privacy in ("not_refuted", "inconclusive")
    passed = _passed(record) if asked else ()
    ratio = caught(record) if asked else math.inf
    sizes = [size for _, size in passed if size is not None]
    if sizes:
        ratio = max(sizes) / record.claimed.epsilon
    asked_for = record.provenance.request
    settled = {upper.KIND} if audited and conclude.bounded(record.checks) else set()
    return Decision(
        privacy=privacy,
        regret=record.regret.verdict if record.regret else None,
        strength="none" if not asked else "weak" if passed or ratio > WEAK else "strong",
        scope=record.epsilon_upper.scope if record.epsilon_upper else None,
        ground=_ground(record) if privacy == "not_refuted" else None,
        reason=record.reason if audited else None,
        role=role,
        ratio=ratio,
        passed=passed,
        faults=len(kills.own_missed(record)),
        require=(asked_for.require if asked_for else None) or REQUIRED[0],
        holes=tuple(hole.question.id for hole in questions.holes(record)),
        open_items=tuple(
            str(left.id) for left in record.not_covered if exclusions.settles(left.id) not in settled
        ),
    )


def _ground(record: Record) -> str:
    bound = record.epsilon_upper
    if bound is None or not conclude.bounded(record.checks):
        return "detectable"
    # Where runs of a call depend on each other, paths of calls for one run are some of the code's paths.
    stated = next(one.statistics["premises"] for one in record.checks if one.name == bound.check)
    alone = any(premise["id"] == Taken.RUNS_ALONE for premise in stated)
    return "n paths" if alone else bound.scope


def caught(record: Record) -> float:
    """The smallest leak that the tests of an audit catch, in units of the claim; inf if none is known.

    Replays catch any excess, but on their own runs only: samples count where no upper bound covers others.
    """
    power: Power | SampledPower | None = record.power
    if record.power and record.power.by == "alignment" and record.epsilon_upper is None:
        power = record.power.black_box
    if record.power and record.power.of_event:
        return math.inf
    least = power.smallest_epsilon if power else record.detectable
    if power is None and conclude.constant(record.checks):
        return math.inf
    return math.inf if least is None else float(least) / record.claimed.epsilon


def _passed(record: Record) -> tuple[tuple[str, float | None], ...]:
    """Broken variants that passed and make an audit weak.

    That is each of the audit's own that breaks privacy, which it was to catch, and those of the kill table
    with a large leak.
    """
    own = [mutant.name for mutant in kills.own_missed(record) if mutant.breaks == "privacy"]
    sizes = [(row.mutant, _size(row)) for row in kills.survived(record)]
    large = WEAK * record.claimed.epsilon
    return (*((name, None) for name in own), *((name, size) for name, size in sizes if size > large))


def _size(row: Passed) -> float:
    return float(row.at_least if row.true_epsilon is None else row.true_epsilon)
