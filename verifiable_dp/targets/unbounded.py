"""Which lines of users' code no upper bound covers, told from a few plain runs before any audit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

from verifiable_dp.core.filled import note_placed, noting
from verifiable_dp.core.validate import Foreign
from verifiable_dp.evidence.blackbox.test import TUNE
from verifiable_dp.evidence.judge.language import Language
from verifiable_dp.evidence.judge.marks import Spot
from verifiable_dp.evidence.judge.outside import Outside
from verifiable_dp.evidence.tracing.reach import scopes_of
from verifiable_dp.targets.horizons import contrasts
from verifiable_dp.targets.plays import PlaySampler

_TELLINGS = 3  # times that more is disclosed, as when a bound is looked for


def outside(sampler: PlaySampler, bounds: tuple[float, float] = (0.0, 1.0)) -> list[Outside]:
    """Constructs of the code that runs on some tables, by file and line; see `evidence.judge.language`."""
    scopes = scopes_of(sampler.function)
    with noting() as filled, _running(frozenset(scopes)) as codes:
        note_placed(sampler.function, "data", *(["public"] if sampler.many else []), "generator")
        for table in contrasts(sampler.horizon, sampler.n_arms, bounds):
            sampler.actions(table, (TUNE, 0), np.array([0]))
    disclosed = frozenset[Spot]()
    for _ in range(_TELLINGS + 1):
        said = Language(scopes, codes, filled, functions=scopes.functions, disclosed=disclosed)
        if said.spots <= disclosed:
            break
        disclosed |= said.spots
    return said.all_outside()


def words(found: Outside) -> str:
    """In one line."""
    return f"none, because of {Path(found.file).name}:{found.line}: {found.words}; instead, {found.instead}"


@contextmanager
def _running(files: frozenset[str]) -> Iterator[set[CodeType]]:
    """The code of these files that is called inside."""
    found, before = set[CodeType](), sys.getprofile()

    def called(frame: FrameType, event: str, _: Foreign) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            found.add(frame.f_code)

    sys.setprofile(called)
    try:
        yield found
    finally:
        sys.setprofile(before)
