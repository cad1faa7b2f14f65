"""What a table of a record comes down to, in sentences that follow from its rows."""

from __future__ import annotations

from verifiable_dp.evidence.check import Check, in_words
from verifiable_dp.evidence.regret.rows import joined
from verifiable_dp.evidence.regret.table import against_the_floor, what_is_separated, where_they_win, who_wins

__all__ = ["is_table", "joined", "reading"]


def is_table(check: Check) -> bool:
    """Whether a check is a table, which promises nothing and has no verdict."""
    return check.form.about == "table"


def reading(table: Check) -> list[str]:
    """Who wins where, what the floor makes of it, and why; computed from the rows alone."""
    if table.kind != "table":
        return [in_words(table)]
    return [who_wins(table), where_they_win(table), against_the_floor(table), what_is_separated(table)]
