"""How an audit was run, as far as that says what its record is worth."""

from __future__ import annotations

from verifiable_dp.record.model import Record
from verifiable_dp.record.provenance import LEARNT_WITH
from verifiable_dp.targets.opened import relative


def notes(record: Record) -> list[str]:
    """A line for each thing to know."""
    made, found = record.provenance, list[str]()
    if made.in_process:
        why = made.in_process
        found.append(
            f"the audited code ran in the process of the audit, {why}, where it can end or change the audit"
        )
    if made.ran_before:
        found.append(
            f"the audit ran in a copy of a process in which other code had run ({made.ran_before}): that may "
            "have changed modules, settings and where imports look"
        )
    if name := relative(made.target.opened or {}):
        where = f"{made.target.folder!r} of its repository" if made.target.folder else "the current folder"
        found.append(
            f"the code opens {name!r} from the folder in which it runs, {where} in this audit; elsewhere, "
            "that may be another file"
        )
    if made.cage:
        found.append(f"the audited code ran in a cage: {', '.join(made.cage)}")
    if made.counted is not None:
        found.append(counted(made.counted.asked_again))
    if not learnt_fully(record):
        found.append("without scikit-learn, no trees were fitted; verifiable-dp[learn] may find more leaks")
    if made.resumed:
        steps = made.resumed.steps
        found.append(
            f"the audit was resumed: {steps} finished steps come from a checkpoint and were not run again"
        )
    return found


def learnt_fully(record: Record) -> bool:
    """Whether scikit-learn was there, with which an audit also fits boosted trees to runs."""
    return record.provenance.packages.get(LEARNT_WITH) != ""


def counted(asked_again: int) -> str:
    """Whose word the numbers of a record are, where its runs were counted outside of the code's process."""
    return (
        "the audited code ran in its own process. Another process chose its runs, inputs and seeds, and "
        f"counted the outputs; a fresh process repeated {asked_again} runs. What tracing saw, and where the "
        "noise comes from, was reported by the code's own process. We do not catch code that behaves "
        "differently when it is watched"
    )
