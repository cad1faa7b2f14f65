"""Source of a traced target as a page shows it: line by line, with what happens there beneath."""

from __future__ import annotations

from collections.abc import Callable

from verifiable_dp.core.validate import Json, JsonDict
from verifiable_dp.evidence.alignment.searching import plain
from verifiable_dp.evidence.tracing.replays import dearest

# Signs beside the words, so that colour is not the only carrier.
SIGNS = {"reward": "→", "release": "+", "raw": "!", "action": "←"}
_ABOVE = 1 + 1e-9  # of the claim: rounding


def too_costly(statistics: Json) -> list[JsonDict]:
    """Lines of releases with their cost, if they cost more than the claim together; else none.

    Where the replay could not follow, no cost of single releases says anything.
    """
    total, single = dearest(statistics), float(statistics["max_cost"])
    if statistics["divergence"] or not total > float(statistics["epsilon"]) * _ABOVE:
        return []
    sources = {(step["file"], step["line"]): step["source"] for step in statistics.get("flow", [])}
    rows = [row for row in statistics["shares"] if float(row["cost"]) > 0]
    if total != single:  # of normal noise, which costs this at the delta of the claim, all of it together
        rows = [{**row, "together": plain(total), "delta": statistics["delta"]} for row in rows]
    return [{**row, "source": sources.get((row["file"], row["line"]), "")} for row in rows]


def times(count: int) -> str:
    """How often, in words; empty where it is not counted."""
    return "" if count < 1 else "once" if count == 1 else f"{count} times"


def mark(step: Json, number: Callable[[float | str], str] = str) -> dict[str, str]:
    """Sign and words of what happens on a line.

    Parameters
    ----------
    step
        One of the `flow` of a check by tracing.
    number
        Writes a cost.
    """
    words = f"release: {step['words']}" if step["role"] == "release" else str(step["words"])
    if "cost" in step:
        words += f", cost {number(step['cost'])}"
    often = times(int(step["count"]))
    words = f"{words[:1].upper()}{words[1:]}{f', {often}' if often else ''}"
    return {"role": str(step["role"]), "sign": SIGNS[step["role"]], "words": words}


def files(statistics: Json, number: Callable[[float | str], str] = str) -> list[JsonDict]:
    """Excerpts by file: rows of lines with their marks, and a row without a line where some are left out."""
    marks: dict[tuple[str, int], list[dict[str, str]]] = {}
    for step in statistics.get("flow", []):
        marks.setdefault((step["file"], step["line"]), []).append(mark(step, number))
    found: dict[str, list[JsonDict]] = {}
    for part in statistics.get("excerpts", []):
        rows = found.setdefault(part["file"], [])
        if rows:
            rows.append({"line": None, "text": "", "marks": []})
        for line, text in enumerate(part["lines"], part["first"]):
            rows.append({"line": line, "text": text, "marks": marks.get((part["file"], line), [])})
    return [{"file": file, "rows": rows} for file, rows in found.items()]
