"""What audits came to, from the records that they left and from nothing else; no code of a target is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from verifiable_dp.campaign import file as campaigns
from verifiable_dp.campaign.run import exit_status
from verifiable_dp.core import files
from verifiable_dp.core.validate import printable
from verifiable_dp.render import portfolio
from verifiable_dp.report import Report

REASONS = (
    "not-audited.txt"  # lines `what was asked`, tab, `why it has no record`, as `ci/audit.sh` notes them
)
_LARGEST = 1 << 20
_LONGEST = 500  # characters of a reason
_WORST = (2, 1, 3, 0)


@dataclass(frozen=True)
class Judged:
    """What was asked, and what there is of it.

    Attributes
    ----------
    reports
        Name of a target or of an entry of the campaign, and its report.
    failed
        What has no record that holds, and why, a line each.
    exit_status
        2 if anything failed, else 1 if a promise is refuted or a claim about regret contradicted, 3 if one is
        undecided, 0.
    """

    reports: Sequence[tuple[str, Report]]
    failed: Sequence[str]
    exit_status: int


def judge(folder: str | Path, targets: Sequence[str] = (), campaign: str | Path | None = None) -> Judged:
    """Verify what a folder holds, and look for a record of all that was to be audited.

    Parameters
    ----------
    folder
        With a folder for each record in it.
    targets
        As they were given to `audit`: a record for each, also for one that stands twice. If there are more of
        that name, all count.
    campaign
        File of a campaign that was run into the same folder.

    Raises
    ------
    InputError
        If there is no such folder, or the file of the campaign is unusable.
    """
    place = Path(folder)
    found = portfolio.find(place)
    reasons, held = _reasons(place), {path: one.record for path, one in found.records.items()}
    reports, failed, statuses = list[tuple[str, Report]](), list[str](), list[int]()
    missing = dict[str, None]()
    entries = [] if campaign is None else campaigns.read(campaign).entries
    for entry in entries:
        record = held.pop(place / entry.name / "record.json", None)
        why = "no record of it verifies" if record is None else entry.unanswered(record)
        if record is None or why:
            missing[str(campaign)] = None
            failed += [] if str(campaign) in reasons else [_line(f"{campaign}: {entry.name}", why)]
        else:
            reports.append((entry.name, Report(record)))
    statuses.append(exit_status([report for _, report in reports]))
    for target, times in Counter(targets).items():
        # All that are called so: of several the worst counts, whoever wrote the others.
        same = [one for one in map(Report, held.values()) if one.name == target]
        reports += [(target, one) for one in same]
        statuses += [one.decision.exit_code for one in same]
        for _ in range(times - len(same)):
            missing[target] = None
            failed += [] if target in reasons else [_line(target)]
    told = [_line(what, why) for what in missing for why in reasons.get(what, ())]
    broken = [_line(path.relative_to(place).as_posix(), why) for path, why in found.broken.items()]
    failed = [*told, *failed, *broken]
    statuses += [2] if failed or not reports else []
    return Judged(reports, failed, min(statuses, key=_WORST.index))


def _line(what: str, why: str = "no record of it verifies") -> str:
    return f"{what}: {printable(why)[:_LONGEST]}"


def _reasons(folder: Path) -> dict[str, list[str]]:
    """Why targets have no record, as far as it was noted."""
    if not (folder / REASONS).is_file():
        return {}
    found = dict[str, list[str]]()
    for line in files.content("reasons", folder / REASONS, _LARGEST).decode("utf-8", "replace").splitlines():
        what, tab, why = line.partition("\t")
        if tab:
            found.setdefault(what, []).append(why)
    return found
