"""Counterexamples of earlier audits, which are tried first when the same targets are audited again."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from verifiable_dp.campaign.entries import Campaign, Entry
from verifiable_dp.campaign.file import audit_entry, unanswered
from verifiable_dp.core import files
from verifiable_dp.core.neighbours import pair_of
from verifiable_dp.core.validate import Given, InputError, Json
from verifiable_dp.evidence.blackbox.test import ALPHA
from verifiable_dp.record.model import Record
from verifiable_dp.report import Report

FOLDER = ".verifiable-dp"
SHARE = 1e-3  # of alpha that a replay has: with it, an audit wrongly refutes at most 1.001 times alpha
_LARGEST = 1 << 20  # bytes of a counterexample


@dataclass(frozen=True)
class Examples:
    """Where counterexamples to the claims of a campaign are kept.

    Parameters
    ----------
    campaign
        That was read.
    """

    campaign: Campaign

    def keep(self, name: str, report: Report) -> Path | None:
        """Keep the inputs that refute an entry's claim about your own code; None if there are none.

        Raises
        ------
        InputError
            If they cannot be written.
        """
        entry = {one.name: one for one in self.campaign.entries}[name]
        found = [one for one in report.parsed.counterexamples if one.instance is None]
        if not _replayable(entry) or report.verdict != "refuted" or not found:
            return None
        place = self._place(name)
        files.make_folder("examples", place.parent.parent)
        files.make_folder("examples", place.parent)
        kept = {"pair": found[0].pair, "found": report.parsed.provenance.finished}
        return files.write_text(place, json.dumps(kept, indent=1) + "\n")

    def replay(self, entry: Entry, cage: str = "none") -> Report | None:
        """The audit of an entry on the inputs that were kept, if they still refute its claim; else None.

        It has the smallest budget and a thousandth of the level; `cage` as `api.audit`. Inputs that no longer
        fit are passed over.
        """
        place = self._place(entry.name)
        if not (_replayable(entry) and place.is_file()):
            return None
        try:
            pair = _pair(json.loads(files.content("examples", place, _LARGEST))["pair"])
            report = audit_entry(entry, self.campaign.folder, {**_options(entry, pair), "cage": cage})
        except (InputError, ValueError, LookupError, TypeError):
            return None
        return report if report.verdict == "refuted" else None

    def _place(self, name: str) -> Path:
        return self.campaign.folder / FOLDER / "examples" / f"{name}.json"


def is_replay(entry: Entry, folder: Path, record: Record) -> bool:
    """Whether a record refutes an entry's claim on inputs that were kept: it answers what `replay` asks."""
    found = [one for one in record.counterexamples if one.instance is None]
    if not _replayable(entry) or record.verdict != "refuted" or not found:
        return False
    try:
        options = _options(entry, _pair(found[0].pair))
    except (InputError, ValueError, LookupError, TypeError):
        return False
    return not unanswered(replace(entry, options=options), folder, record)


def _options(entry: Entry, pair: Given) -> dict[str, Given]:
    """What an audit on inputs that were kept is asked."""
    own = {key: value for key, value in entry.options.items() if key not in ("adjacency", "curve")}
    return {**own, "pairs": [pair], "budget": "smoke", "alpha": SHARE * float(own.get("alpha", ALPHA))}


def _replayable(entry: Entry) -> bool:
    """Whether privacy of a user's code is audited."""
    return not (entry.listed or entry.claims)


def _pair(plain: Json) -> Given:
    if plain["type"] == "data":
        return np.asarray(plain["left"], dtype=float), np.asarray(plain["right"], dtype=float)
    return pair_of(plain)
