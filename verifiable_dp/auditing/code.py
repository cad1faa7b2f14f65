"""What running a record again imports or starts: derived once, then announced, compared and run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record, Target
from verifiable_dp.targets.process import TIMEOUT, Exec
from verifiable_dp.targets.source import TWO, Source


@dataclass(frozen=True)
class Code:
    """The code of a record.

    Attributes
    ----------
    target
        Where the audited code is, the command that was audited, or a name of the catalogue.
    others
        Where bounds and rivals of claims about regret are.
    """

    target: Source | Exec | str
    others: tuple[Source | str, ...] = ()

    @classmethod
    def of(cls, record: Record) -> Code:
        """The code that a record names.

        Raises
        ------
        InputError
            If its name, its source and its command do not name the same.
        """
        regret = record.plan.regret
        if regret is None:
            return cls(_target(record.target, commands=True))
        others: list[Source | str] = []
        if regret.bound is not None and regret.bound.source is not None:
            others.append(Source.read(regret.bound.source.as_dict(), regret.bound.name))
        if regret.rival is not None:
            rival = _target(regret.rival)
            assert not isinstance(rival, Exec)
            others.append(rival)
        return cls(_target(record.target), tuple(others))

    def announced(self) -> list[str]:
        """What is imported or started, a line each."""
        lines = [line for part in (self.target, *self.others) for line in _announced(part)]
        return list(dict.fromkeys(lines))


def _target(target: Target, commands: bool = False) -> Source | Exec | str:
    """Of a target: only audits of privacy take commands."""
    name, command = target.name, target.parameters.get("exec")
    if target.kind == "algorithm":
        return name
    if command is None:
        return Source.read(target.source.as_dict(), name)
    source = Source(**target.source.as_dict())
    for other in (name, source.name):
        if command != other or not commands:
            raise InputError(TWO.format(command, other))
    if source.path and source.path not in shlex.split(command):
        raise InputError(TWO.format(command, source.path))
    return Exec(command, target.parameters.get("exec_timeout", TIMEOUT))


def _announced(part: Source | Exec | str) -> list[str]:
    if isinstance(part, str):
        return [f"runs {part} of the installed catalogue"]
    return [f"runs the command: {part.command}"] if isinstance(part, Exec) else part.announced()
