"""Checks of regret as a sentence and as one figure: what is claimed, what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verifiable_dp.core.claims import Basis
from verifiable_dp.evidence.check import Check
from verifiable_dp.record import words
from verifiable_dp.record.model import Record
from verifiable_dp.render import limits, plots, timelines
from verifiable_dp.render.strength import capital, many

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDE = 2  # panels side by side


def svg(record: Record) -> str | None:
    """The figure of a record's claims about regret as inline SVG; None where there is nothing to draw."""
    checks = record.regret_checks
    means = [check for check in checks if check.kind == "mean_bound" and check.statistics["mean"] > 0]
    rates = [check for check in checks if check.kind == "scaling"]
    count = bool(means) + len(rates)
    if not count:
        return None
    across = min(count, _WIDE)
    down = -(-count // across)

    def draw(figure: Figure) -> None:
        left, *others = [*figure.subplots(down, across, squeeze=False).flat]
        if means:
            plots.bounds(left, means, {})
        for axes, check in zip(others if means else [left, *others], rates, strict=False):
            timelines.growing(axes, [check], str(check.statistics.get("over", "horizon T (rounds)")))
            axes.set_title(f"{check.name}: {check.verdict}", fontsize=9, loc="left")
        for axes in [left, *others][count:]:
            axes.set_visible(False)

    return plots.inline("regret-claims", (3.9 * across, 3.4 * down), draw)


_THEOREMS = "the theorems"
_AGREED = {Basis.OURS: "our derivations", Basis.GIVEN: "what was claimed", Basis.UNREAD: "our bounds"}


def sentence(record: Record) -> str:
    """How many checks of regret, or of what is claimed in its place, agree; empty if none was made."""
    checks = record.regret_checks
    if not checks:
        return ""
    what = "" if words.measured(record) == "Regret" else " on errors and rounds"
    said = [agreeing(record, f" with {_bounds(record)}{what}")]
    for verdict, text in (("contradicted", "contradicted"), ("inconclusive", "undecided")):
        names = [c.name for c in checks if c.verdict == verdict]
        said += [f"{text}: {', '.join(names)}"] if names else []
    vacuous = [c for c in checks if c.verdict == "vacuous"]
    if vacuous:
        below = [float(c.statistics["least_horizon"]) for c in vacuous if c.statistics.get("least_horizon")]
        short = f"below {min(below):.2g} rounds" if below else "at this size"
        do = "does" if len(vacuous) == 1 else "do"
        said.append(f"{many(len(vacuous), 'more check')} cannot fail {short} and {do} not count")
    if count := loose(record):
        are = "is" if count == 1 else "are"
        said.append(
            f"{many(count, 'check')} {are} coarse: {limits.LOOSE:g} times the measured value would pass"
        )
    return f"{'. '.join(map(capital, said))}."


def _bounds(record: Record) -> str:
    """What the checks were held against: theorems only where nothing of them was derived here."""
    sources = [claim.source for claim in (record.regret.claims if record.regret else ())]
    sources = [source for source in sources if source.basis != Basis.CHOSEN]
    bases = {source.basis or Basis.PAPER for source in sources}
    if len(bases) == 1 and (said := _AGREED.get(next(iter(bases)))):
        return said
    derived = [bool(source.note) or source.basis in _AGREED for source in sources]
    if all(derived) and derived:
        return "our bounds"
    are = "is" if sum(derived) == 1 else "are"
    ours = f"the stated bounds ({sum(derived)} of these {len(derived)} {are} partly our own)"
    return ours if any(derived) else _THEOREMS


def agreeing(record: Record, bounds: str = "") -> str:
    """How many of the checks agree that could have failed, with `bounds`: on regret, on lemmas.

    Those of a bound that was chosen to fit, and is not proved, count apart.
    """
    able = [c for c in record.regret_checks if c.verdict != "vacuous"]
    which = "" if len(able) == len(record.regret_checks) else " that can fail"
    claims = {claim.name: claim for claim in record.regret.claims} if record.regret else {}
    fits, lemmas, others = list[Check](), list[Check](), list[Check]()
    for check in able:
        claim = claims.get(str(check.statistics.get("claim")))
        chosen = claim is not None and claim.source.basis == Basis.CHOSEN
        (fits if chosen else lemmas if claim is not None and claim.about == "lemma" else others).append(check)
    parts = []
    if others or not (lemmas or fits):
        parts.append(f"{_agree(others)}{' on regret' if lemmas else ''}{which}")
    if lemmas:
        parts.append(f"{_agree(lemmas, not others)} on lemmas{'' if others else which}")
    one = len(parts) == 1 and sum(c.verdict == "consistent" for c in lemmas or others) == 1
    said = [f"{' and '.join(parts)} agree{'s' if one else ''}{bounds}"] if parts else []
    if fits:
        keep = "meets" if sum(c.verdict == "consistent" for c in fits) == 1 else "meet"
        which = "" if parts else which
        said.append(f"{_agree(fits, not parts)}{which} {keep} a bound that we fitted but did not prove")
    apart = _of_another(record, able)
    return f"{'; '.join(said)}{f', {apart}' if apart else ''}"


def _agree(checks: Sequence[Check], noun: bool = True) -> str:
    count = sum(c.verdict == "consistent" for c in checks)
    return f"{count} of {many(len(checks), 'check') if noun else len(checks)}"


def _of_another(record: Record, checks: Sequence[Check]) -> str:
    """How many checks are of a setting that was not audited; claims of one setting each have its name."""
    claims = {claim.name for claim in record.regret.claims} if record.regret else set()
    for key, value in record.target.parameters.items():
        if isinstance(value, str) and value in claims:
            others = [c.statistics["claim"] for c in checks if c.statistics.get("claim") != value]
            named = ", ".join(dict.fromkeys(others))
            return f"{len(others)} of them for another {key} ({named})" if others else ""
    return ""


def chosen(record: Record) -> bool:
    """Whether checks agree, and all of these hold a bound that was chosen to fit."""
    agree = [c.statistics.get("claim") for c in record.regret_checks if c.verdict == "consistent"]
    regret = record.regret.claims if record.regret else ()
    fits = {claim.name for claim in regret if claim.source.basis == Basis.CHOSEN}
    return bool(agree) and fits.issuperset(map(str, agree))


def loose(record: Record) -> int:
    """How many of the checks would pass with a large multiple of what was measured."""
    return sum(limits.is_loose(check) for check in record.regret_checks)
