"""What shares memory in NumPy shares it where tracked numbers stand in the arrays, and nothing else does.

Each way to make one array of another is followed for arrays of several forms, types and orders in memory. We
write into one of the two, and look at the other: a followed run must see the same entries change as a plain
one, or refuse.
"""

from __future__ import annotations

import pytest

from tests.user_code import sharing
from verifiable_dp.evidence.symbolic.bounded_programs import Program
from verifiable_dp.evidence.symbolic.choosers import Chooser
from verifiable_dp.evidence.symbolic.coverage import Coverage
from verifiable_dp.evidence.symbolic.paths import _as_plain, run
from verifiable_dp.evidence.tracing.reach import scopes_of

# Ways that may be refused where entries are tracked: nobody needs them, and a refusal is sound.
REFUSED = {"view", "view_of_whole", "nan_to_num", "real", "np_real", "conj", "meshgrid"}


def outcomes(way, *, noisy):
    """For each form and direction: why the run was refused, and whether it agrees with a plain one."""
    for made in sharing.MAKERS.values():
        for shape in sharing.SHAPES:
            for forth in (True, False):
                play = sharing.writing(made, way, shape, noisy=noisy, forth=forth)
                program, scopes = Program(play, (2, 2), (0.0, 1.0)), scopes_of(play)
                path = run(program, 0, Chooser(0, 2), scopes, Coverage(frozenset(scopes)))
                yield path.failure, bool(path.failure) or _as_plain(program, path, scopes)


@pytest.mark.parametrize("noisy", [False, True], ids=["public", "noisy"])
@pytest.mark.parametrize("name", sharing.WAYS)
def test_the_same_memory_is_shared(name, noisy):
    """Broken variants: `given_back` without `may_share_memory`; `Box.shared` that copies."""
    found = list(outcomes(sharing.WAYS[name], noisy=noisy))
    assert all(same for _, same in found)
    kept = sum(not failure for failure, _ in found)
    assert kept > len(found) / 4 or name in REFUSED
