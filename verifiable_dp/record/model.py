"""The record as a type: parsed once where it is read, then passed around; its JSON Schema is made of it.

`Record.of` takes JSON values that fit the schema. What a record may leave out is None here. Verdicts and
statistics of a check are those of its kind (`evidence.check`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from verifiable_dp.core.claims import CURVED, Basis, PrivacyClaim, Relation
from verifiable_dp.core.units import Adjacency, Observed, Plays, Protected, Role, TrustModel, Unit
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.blackbox.statistics import DETECT
from verifiable_dp.evidence.check import Check, fits
from verifiable_dp.evidence.exclusions import Left
from verifiable_dp.evidence.fields import (
    AtLeastOne,
    Count,
    Delta,
    Loss,
    Only,
    OpenProbability,
    PairEntry,
    Parted,
    Positive,
    Probability,
    Real,
    RegretVerdict,
    Scope,
    Text,
    Verdict,
    described,
    said,
)
from verifiable_dp.record.entries import RecordEntry, Sealed, Sha256
from verifiable_dp.record.provenance_entries import Checkout as Checkout
from verifiable_dp.record.provenance_entries import Provenance as Provenance
from verifiable_dp.record.sealing import SCHEMA_VERSION
from verifiable_dp.registry import entries as registry

Parameters = Annotated[Json, described("parameters")]
PrivacyCheck = Annotated[Check, described("privacy_check")]
RegretCheck = Annotated[Check, described("regret_check")]
AnyCheck = Annotated[Check, described("any_check")]
Table = Annotated[Check, described("any_table")]


class CodeEntry(RecordEntry, frozen=True):
    """Where the audited code is."""

    name: str
    path: str
    line: Count
    sha256: Annotated[str, Meta(pattern="^([0-9a-f]{64})?$")]
    loads: Annotated[
        Mapping[str, Sha256] | None,
        said(
            "SHA-256 of what else runs when the code is loaded, by name: the packages that it is in, and "
            "what names code that another file defines."
        ),
    ] = None


class Target(RecordEntry, frozen=True):
    """What was audited."""

    name: Text
    kind: Literal["algorithm", "play", "play_many", "release", "user"]
    role: Role
    plays: Plays
    parameters: Parameters
    source: CodeEntry
    note: str
    paper: str
    model: Text
    bounds: Annotated[
        tuple[Real, Real] | None,
        said("Range of the rewards of an algorithm; for other code, it is in the parameters."),
    ] = None

    @property
    def ours(self) -> bool:
        """Whether an auditor of this package audited it: only auditors say which paper code is from."""
        return self.kind == "algorithm" and bool(self.paper) and registry.ours(self.name)


class SourceEntry(RecordEntry, frozen=True):
    """Where a claim stands."""

    paper: Text
    statement: Text
    note: str
    basis: Annotated[
        Basis | None,
        said("How the source relates to the claim; absent if the paper states it."),
    ] = None


class RelationEntry(RecordEntry, frozen=True):
    """What a promise is about, if that is more than one event."""

    kind: Literal["group", "user"]
    size: Annotated[int, Meta(ge=1, description="Events that may differ.")]


class Claim(RecordEntry, frozen=True):
    """A privacy claim under test."""

    epsilon: Positive
    delta: Delta
    observe: Observed
    source: SourceEntry | None
    trust_model: TrustModel
    unit: Unit
    adjacency: Adjacency
    rho: Annotated[
        Positive | None,
        said("Present if the promise is rho-zCDP; epsilon is then what it implies at delta."),
    ] = None
    mu: Annotated[
        Positive | None,
        said("Present if the promise is mu-GDP; epsilon is then what it implies at delta."),
    ] = None
    protects: Annotated[
        Protected | None,
        said(
            "Present if the promise is about users with contexts: which of their data is protected, and "
            "from whom."
        ),
    ] = None
    relation: Annotated[
        RelationEntry | None, said("Present if the promise is about more than one event.")
    ] = None

    @property
    def size(self) -> int:
        """How many events may differ."""
        return self.relation.size if self.relation else 1

    @property
    def curve(self) -> tuple[str, float] | None:
        """``rho`` or ``mu`` and its value, where the promise is a whole curve."""
        return next(((n, getattr(self, n)) for n in CURVED if getattr(self, n) is not None), None)

    @property
    def value(self) -> PrivacyClaim:
        """The claim as audits take it, without where it stands."""
        return PrivacyClaim(
            epsilon=self.epsilon,
            delta=self.delta,
            observe=self.observe,
            trust_model=self.trust_model,
            unit=self.unit,
            adjacency=self.adjacency,
            rho=self.rho,
            mu=self.mu,
            relation=Relation(self.relation.kind, self.relation.size) if self.relation else Relation(),
        )


class GameSizes(RecordEntry, frozen=True):
    """Sizes of the interactive game."""

    challenges: Count
    population: Count
    generations: Count
    probe: Count
    select: Count
    test: Count


class StatedBound(RecordEntry, frozen=True):
    """A bound on regret that was given: its name, and a number or where its code is."""

    name: str
    value: Annotated[float, Meta(ge=0)] | None = None
    source: CodeEntry | None = None


class StatedRate(RecordEntry, frozen=True):
    """A rate of regret that was given."""

    over: Text
    exponent: float
    log_power: float
    margin: Positive
    values: Annotated[tuple[Positive, ...], Meta(min_length=4)]
    worst: Annotated[bool, said("Whether the worst gap was looked for at each value.")]


class StatedRegret(RecordEntry, frozen=True):
    """Claims about regret that were given, not taken from the catalogue; a rerun takes them from here."""

    runs: Annotated[int, Meta(ge=2)]
    instances: Annotated[
        tuple[Json, ...],
        said("Environments; empty if they were given as objects that cannot be written down."),
    ]
    bound: StatedBound | None
    beta: OpenProbability | None
    rates: tuple[StatedRate, ...]
    gap: Annotated[float, Meta(gt=0, description="In units of the range of rewards.")]
    rival: Target | None
    factor: Positive


class PlanEntry(RecordEntry, frozen=True):
    """Sizes that decide every count; a rerun takes them from here."""

    only = ("capped", "curve", "sequential")

    budget: Text
    probe: Count | None = None
    select: Count | None = None
    test: Count | None = None
    keep: Count | None = None
    finalists: Count | None = None
    examples: Count | None = None
    traced: Annotated[Count | None, said("Examples of the search of tracing.")] = None
    repeats: Count | None = None
    part: Annotated[
        Annotated[int, Meta(ge=2)] | None,
        said(
            "Multiple of these runs that a broken variant gets: if exact losses and a certificate decide, "
            "the black box makes fewer."
        ),
    ] = None
    tune: Count | None = None
    first: Count | None = None
    sizes: Annotated[
        Mapping[str, Count] | None, said("Runs for each stage of an audit of a user's code.")
    ] = None
    tried: Annotated[
        Mapping[str, Count] | None,
        said("What the search for a bandit's worst neighbours tried; absent if there was no search."),
    ] = None
    timeout: Annotated[Positive | None, said("Seconds that one run could take.")] = None
    capped: Annotated[
        Only | None,
        said("Present if the time limit made the audit smaller; on another machine its sizes may differ."),
    ] = None
    alpha: OpenProbability | None = None
    confidence: OpenProbability | None = None
    detect: Annotated[
        Annotated[float, Meta(ge=1)] | None,
        said("Multiple of the claim that has to be detectable if nothing is proved; 2 if absent."),
    ] = None
    mutants: bool | None = None
    numerics: Annotated[bool | None, said("Whether the last bits of a mechanism's outputs were tested.")] = (
        None
    )
    given_pairs: bool | None = None
    searched: Annotated[
        tuple[PairEntry, ...] | None,
        said("The worst neighbours that a search found; a rerun takes them from here."),
    ] = None
    group: Annotated[
        AtLeastOne | None, said("Events that may differ; the promise about one of them follows.")
    ] = None
    event_epsilon: Positive | None = None
    event_delta: Delta | None = None
    rho: Positive | None = None
    mu: Positive | None = None
    curve: Annotated[Only | None, said("Present if the hockey-stick curve was measured.")] = None
    interactive: GameSizes | None = None
    regret: StatedRegret | None = None
    sequential: Annotated[
        Only | None,
        said("Present if the test is sequential; the sizes are those of its last round."),
    ] = None


class BoundEntry(RecordEntry, frozen=True):
    """The least upper bound on epsilon whose premises hold."""

    epsilon: Loss
    delta: Delta
    scope: Scope
    paths: Count | None
    check: Annotated[str, Meta(min_length=1, description="The check that holds premises and certificate.")]


class EndedEntry(RecordEntry, frozen=True):
    """Why there is no upper bound on epsilon, and where, if at a line."""

    what: Text
    file: str
    line: Count


class Variant(RecordEntry, frozen=True):
    """How we made the code leak more, and how its epsilon is stated."""

    changed: Literal["algorithm", "generator", "parameter", "configuration"] = msgspec.field(name="of")
    parameter: str
    stated: Literal["computed", "nominal", "event"]


class SampledPower(RecordEntry, frozen=True):
    """What the black box alone would have caught."""

    smallest_epsilon: Loss
    probability: Probability
    noise_divided_by: Positive
    repeats: Count
    repeats_refuted: Count
    tried: Annotated[tuple[tuple[Real, Real, Real], ...], said("[noise divided by, true epsilon, power]")]


class Power(RecordEntry, frozen=True):
    """What an audit would have caught, on variants that leak more."""

    smallest_epsilon: Annotated[
        Loss, said("Least true epsilon that the audit would have caught with the probability beside it.")
    ]
    probability: Probability
    by: Literal["alignment", "black_box", "exact", "shuffle"]
    black_box: SampledPower | None
    largest: Annotated[Loss | None, said("Cost of a replayed run.")] = None
    noise_divided_by: Annotated[Positive | None, said("What exact computation refutes.")] = None
    every_batch_at: Positive | UnsetType | None = UNSET
    variant: Variant | None = None

    @property
    def of_event(self) -> bool:
        """Whether the epsilon of the variants is not known, so that a loss at one event is stated for it."""
        return self.variant is not None and self.variant.stated == "event"


class ReleaseEntry(RecordEntry, frozen=True):
    """A release of a replayed run."""

    slot: int
    value: Real
    scale: Loss
    output: Real


class Counterexample(RecordEntry, frozen=True):
    """Neighbouring inputs that a check refutes on: a replayed run, or an event and its counts."""

    pair: PairEntry
    check: Annotated[Text | None, said("Absent for a broken variant.")] = None
    instance: Annotated[
        Parameters | None, said("The algorithm on which it was found, if not the audited one.")
    ] = None
    epsilon: Annotated[
        Loss | None,
        said("Epsilon of the audited claim on `instance`; costs and losses are in units of it."),
    ] = None
    rounds: Annotated[AtLeastOne | None, said("Rounds of `instance` that were played, if not all.")] = None
    event: Text | None = None
    looks_at: Annotated[Json, described("looks_at")] | UnsetType | None = UNSET
    p_value: Probability | None = None
    delta_lower: Probability | None = None
    epsilon_lower: Loss | None = None
    seed: int | None = None
    sign: int | None = None
    run: Annotated[Count | None, said("Number of the run: it addresses the noise.")] = None
    turned: bool | None = None
    cost: Loss | None = None
    loss: Real | None = None
    divergence: Parted | None = None
    releases: Annotated[tuple[ReleaseEntry, ...] | None, said("The first ones.")] = None

    @property
    def replayed(self) -> bool:
        """Whether it is a run that was replayed, so that its loss was computed."""
        return self.loss is not None


class MutantEntry(RecordEntry, frozen=True):
    """Result for a broken variant that the audit tried."""

    name: Text
    fault: Text
    breaks: Literal["privacy", "regret"]
    bounding: Annotated[bool, said("Whether the fault is in how one contribution is bounded.")]
    verdict: Literal["refuted", "not_refuted", "contradicted", "not_contradicted"]
    decided_by: str
    counterexample: Annotated[Json, described("mutant_counterexample")]
    checks: Annotated[tuple[AnyCheck, ...], Meta(min_length=1)]

    @property
    def caught(self) -> bool:
        """Whether a check decided against it."""
        return self.verdict in ("refuted", "contradicted")


class Caught(RecordEntry, frozen=True):
    """How many mutants were caught: those that the auditor owns, and those that operators made."""

    auditor: Count
    operators: Count


class Passed(RecordEntry, frozen=True):
    """A mutant of the kill table that was not caught."""

    mutant: Text
    origin: Text
    fault: str
    outcome: Literal["survived", "within_the_claim", "undecided"]
    epsilon: Positive
    true_epsilon: Loss | None
    at_least: Loss
    at_most: Loss


class KillTable(RecordEntry, frozen=True):
    """What the kill table of the catalogue says about an algorithm."""

    digest: Annotated[Sealed, said("Of the table.")]
    caught: Caught
    others: tuple[Passed, ...]


class RegretClaimEntry(RecordEntry, frozen=True):
    """A claim about regret, or about a quantity used instead of it."""

    name: Text
    statement: Text
    formula: str
    kind: Literal["mean", "probability", "scaling", "comparison"]
    about: Literal["regret", "lemma", "utility"]
    domain: str
    source: SourceEntry


class PromiseEntry(RecordEntry, frozen=True):
    """The numbers of a promise, and nothing else of it."""

    epsilon: Positive
    delta: Delta
    rho: Positive | None = None
    mu: Positive | None = None


class Regret(RecordEntry, frozen=True):
    """What was checked of regret."""

    parameters: Parameters
    mutants_tried: bool
    claims: tuple[RegretClaimEntry, ...]
    checks: tuple[RegretCheck, ...]
    verdict: RegretVerdict | None
    tables: Annotated[
        Annotated[tuple[Table, ...], Meta(min_length=1)] | None,
        said(
            "Two algorithms compared, the price of privacy, or algorithms on hard instances; no verdict "
            "follows."
        ),
    ] = None
    promise: Annotated[
        PromiseEntry | None,
        said("What the algorithm promises with these parameters; absent without a promise."),
    ] = None


class Uncovered(RecordEntry, frozen=True):
    """What the audit does not cover, and which kind of check would settle it; null if none would."""

    id: Left
    values: Json
    settled_by: Literal["upper_bound", "numerics"] | None


class CandidateEntry(RecordEntry, frozen=True):
    """A candidate for neighbouring inputs."""

    words: Text


class Record(RecordEntry, frozen=True):
    """One audit of one target.

    Every result follows from the statistics beside it, every verdict from the results; `verifiable-dp verify`
    computes them again.
    """

    schema_version: Annotated[str, Meta(extra_json_schema={"const": SCHEMA_VERSION})]
    target: Target
    claim: Annotated[
        Claim | None,
        said("Null if only regret was checked and the algorithm makes no promise."),
    ]
    plan: PlanEntry
    checks: tuple[PrivacyCheck, ...]
    pairs: Annotated[tuple[CandidateEntry, ...], said("Candidate neighbouring inputs.")]
    verdict: Annotated[Verdict, said("On privacy.")]
    reason: Annotated[
        Literal["lead", "weak", "unsearched"] | None,
        said(
            "Why the verdict is inconclusive: there is evidence against the claim, only a larger epsilon "
            "would have been detected, or no pair of inputs changed the output; null for other verdicts."
        ),
    ]
    epsilon_lower: Annotated[
        Loss,
        said(
            "Lower bound on the true epsilon at the level in `confidence`; an exact loss if an alignment "
            "check gave it."
        ),
    ]
    epsilon_upper: Annotated[BoundEntry | None, said("Null if nothing was proved.")]
    detectable: Annotated[
        Loss | None,
        said(
            "Least true epsilon that a test of this audit would have refuted with probability .95 at its "
            "event; null without such a test."
        ),
    ]
    unbounded: Annotated[EndedEntry | None, said("Null if there is an upper bound, or none was sought.")]
    confidence: OpenProbability
    power: Power | None
    counterexamples: tuple[Annotated[Counterexample, described("found")], ...]
    mutants: tuple[MutantEntry, ...]
    kill_table: Annotated[
        KillTable | None, said("Null if there was no table, or the table does not contain this algorithm.")
    ]
    regret: Regret | None
    not_covered: Annotated[tuple[Uncovered, ...], Meta(min_length=1)]
    seed: Count
    provenance: Provenance
    digest: Annotated[
        Sealed,
        said("SHA-256 of the canonical JSON (sorted keys, no spaces, UTF-8) of everything else."),
    ]
    declarations: Annotated[Json, described("declarations")] | None

    def __post_init__(self) -> None:
        for check in self.every_check():
            fits(check)

    def every_check(self) -> Iterator[Check]:
        """All checks: of privacy, of mutants, of regret, and tables."""
        yield from self.checks
        for mutant in self.mutants:
            yield from mutant.checks
        yield from (*self.regret_checks, *self.tables)

    @property
    def audited(self) -> bool:
        """Whether privacy was looked at."""
        return bool(self.checks)

    @property
    def held(self) -> bool:
        """Whether no violation was found."""
        return self.verdict == "not_refuted"

    @property
    def declared(self) -> Json:
        """What the user declared; empty where that is nothing."""
        return self.declarations or {}

    @property
    def claimed(self) -> Claim:
        """The claim of a record that has one, as every record of an audit of privacy does."""
        assert self.claim is not None, "the record has no claim"
        return self.claim

    @property
    def bound(self) -> BoundEntry:
        """The upper bound of a record that has one."""
        assert self.epsilon_upper is not None, "the record has no upper bound"
        return self.epsilon_upper

    @property
    def detect(self) -> float:
        """Times the claim that has to be detectable where nothing is proved."""
        return DETECT if self.plan.detect is None else self.plan.detect

    @property
    def regret_checks(self) -> tuple[Check, ...]:
        """The checks of regret; none where it was not looked at."""
        return self.regret.checks if self.regret else ()

    @property
    def tables(self) -> tuple[Check, ...]:
        """The tables beside the checks of regret."""
        return (self.regret.tables or ()) if self.regret else ()

    def of_kind(self, *kinds: str) -> list[Check]:
        """The checks on privacy of these kinds."""
        return [check for check in self.checks if check.kind in kinds]
