"""What running a record again imports or starts: derived once, then announced, compared and run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from verifiable_dp.core.validate import InputError, Json
from verifiable_dp.targets.process import TIMEOUT, Exec
from verifiable_dp.targets.source import TWO, CodeSource


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

    target: CodeSource | Exec | str
    others: tuple[CodeSource | str, ...] = ()

    @classmethod
    def of(cls, target: Json, regret: Json | None) -> Code:
        """The code that a record names: that of its target, and of claims about regret that were given.

        Raises
        ------
        InputError
            If its name, its source and its command do not name the same.
        """
        if regret is None:
            return cls(_target(target, commands=True))
        others: list[CodeSource | str] = []
        if regret["bound"] is not None and "source" in regret["bound"]:
            others.append(CodeSource.read(regret["bound"]["source"], regret["bound"]["name"]))
        if regret["rival"] is not None:
            rival = _target(regret["rival"])
            assert not isinstance(rival, Exec)
            others.append(rival)
        return cls(_target(target), tuple(others))

    def announced(self) -> list[str]:
        """What is imported or started, a line each."""
        lines = [line for part in (self.target, *self.others) for line in _announced(part)]
        return list(dict.fromkeys(lines))


def _target(target: Json, commands: bool = False) -> CodeSource | Exec | str:
    """Of a target: only audits of privacy take commands."""
    name, command = str(target["name"]), target["parameters"].get("exec")
    if target["kind"] == "algorithm":
        return name
    if command is None:
        return CodeSource.read(target["source"], name)
    source = CodeSource(**target["source"])
    for other in (name, source.name):
        if command != other or not commands:
            raise InputError(TWO.format(command, other))
    if source.path and source.path not in shlex.split(command):
        raise InputError(TWO.format(command, source.path))
    return Exec(command, target["parameters"].get("exec_timeout", TIMEOUT))


def _announced(part: CodeSource | Exec | str) -> list[str]:
    if isinstance(part, str):
        return [f"runs {part} of the installed catalogue"]
    return [f"runs the command: {part.command}"] if isinstance(part, Exec) else part.announced()
