"""An audit of a user's code that is conducted here, while the code runs in a process of its own."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from verifiable_dp.auditing import rungs
from verifiable_dp.auditing.plans import Progress, silent
from verifiable_dp.auditing.request import AuditRequest
from verifiable_dp.core.validate import InputError, JsonDict, JsonValue
from verifiable_dp.evidence import origins
from verifiable_dp.targets import child
from verifiable_dp.targets.cage import Caged
from verifiable_dp.targets.child import Serve
from verifiable_dp.targets.far import Far, draws_by_itself
from verifiable_dp.targets.heard import FirstData, FirstRun, Heard, Sample, SeedRuns
from verifiable_dp.targets.line import Questions
from verifiable_dp.targets.process import Exec

_MOST_SPENT = 1e9  # seconds of processor time
Draft = Callable[[AuditRequest, Far], JsonDict]
Asked = FirstRun | Sample | SeedRuns
Judging = Callable[[], AbstractContextManager[None]]  # within it nothing of the target judges


@dataclass(frozen=True)
class Conducted:
    """What it takes.

    Parameters
    ----------
    asked
        What is asked.
    serve, again
        Answer questions where the code is (`rungs.served`), and make some runs again (`rungs.asked_again`).
    draft
        Makes the draft of what is asked, and what was spent on it, by asking the code's process.
    heard
        Keeps some of the runs.
    fresh
        Whether runs are made again in a new Python, which knows nothing of this process.
    """

    asked: AuditRequest
    serve: Serve
    again: Callable[[bytes, Progress], JsonValue]
    draft: Draft
    heard: Heard
    fresh: bool = False

    def made(self, progress: Progress, caged: Caged, judging: Judging) -> JsonDict:
        """What `draft` makes while `judging`, with what a record keeps of how runs were made.

        Raises
        ------
        InputError, CrashedError
            See `child.served`.
        """
        conduct = functools.partial(self._conduct, progress, judging)
        found, told = child.served(self.serve, conduct, caged.seconds, caged)
        spent = told.get("cpu_seconds") if isinstance(told, dict) else None
        if found is None or not isinstance(spent, float) or not 0 <= spent < _MOST_SPENT:
            raise InputError(
                "target: its process sent something that we did not ask for; there is no verdict"
            )
        far, made = found
        draft = made["draft"]
        checks = [origins.unlike_counts(doubts).as_dict() for doubts in [self.heard.doubts(draft)] if doubts]
        found_here = self.heard.samples()
        samples = [one for one in found_here if not draws_by_itself(one.sampler.function)]
        if found_here:
            progress("repeating some runs in fresh processes")
        if far.command and found_here and self._known(far, found_here[0], replace(caged, taken=[])):
            checks.append(origins.public_noise().as_dict())
        for number, first in enumerate(FirstData):
            some = samples[number :: len(FirstData)]
            if not some:
                continue
            begun = FirstRun(max(samples, key=Sample.entries), first)  # few values may leave the same
            if not self._same(far, begun, some, replace(caged, taken=[])):
                checks.append(origins.unlike_elsewhere().as_dict())
                break
        return {
            **made,
            "draft": {**draft, "checks": [*draft["checks"], *checks]},
            "cpu_seconds": made["cpu_seconds"] + spent,
            "kept": {"counted": self.heard.noted(samples)},
        }

    def _conduct(self, progress: Progress, judging: Judging, questions: Questions) -> tuple[Far, JsonDict]:
        command = isinstance(self.asked.target, Exec)
        far = Far(questions, rungs.objects_of(self.asked), command, self.heard)
        with judging():
            return far, self.draft(replace(self.asked, progress=progress), far)

    def _same(self, far: Far, begun: FirstRun, samples: Sequence[Sample], caged: Caged) -> bool:
        """Whether some runs come out as they did in a process that has seen other data first, and no more."""
        # Which finds the digests by itself.
        found = self._fresh(far, [begun, *(replace(one, digest="") for one in samples)], caged)
        return bool(found == ["", *(one.digest for one in samples)])

    def _known(self, far: Far, sample: Sample, caged: Caged) -> bool:
        """Whether other seeds make the same noise in a program that was started anew."""
        one, other = (self._fresh(far, [runs], caged) for runs in sample.with_other_seeds())
        return one == other and one not in ([""], None)

    def _fresh(self, far: Far, asked: Sequence[Asked], caged: Caged) -> JsonValue:
        """What comes out of some runs in a fresh process; None where it fails, in which they ran once."""
        again = functools.partial(self.again, far.pickled(asked))
        with contextlib.suppress(InputError):
            return child.call(again, silent, caged.seconds, caged, fresh=self.fresh)
        return None
