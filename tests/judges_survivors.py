"""Faults of judges that no point of an edge table can tell, and why: see `tests.judges`."""

SURVIVORS: dict[str, str] = {}
