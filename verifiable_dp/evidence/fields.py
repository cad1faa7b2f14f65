"""What a value of a record may be, as types: its JSON Schema is made of them.

A kind of check says here what its statistics and its result hold: frozen structs of base `Recorded`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from verifiable_dp.core.tapes import Divergence
from verifiable_dp.core.validate import Given, Json

Count = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
AtLeastTwo = Annotated[int, Meta(ge=2)]
Size = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Probability = Annotated[float, Meta(ge=0, le=1)]
OpenProbability = Annotated[float, Meta(gt=0, lt=1)]
Delta = Annotated[float, Meta(ge=0, lt=1)]
Loss = Size | Literal["inf"]  # JSON has no infinity; `float` reads both
Real = float | Literal["inf", "-inf", "nan"]
Scalar = float | str | bool | None | list[float | str | list[Given]]
Text = Annotated[str, Meta(min_length=1)]
Verdict = Literal["refuted", "not_refuted", "inconclusive"]
RegretVerdict = Literal["consistent", "contradicted", "vacuous", "inconclusive"]
Direction = Literal["world 0 over world 1", "world 1 over world 0"]


def said(description: str) -> Meta:
    """What the schema says of a value."""
    return Meta(description=description)


def described(name: str) -> Meta:
    """What the schema describes by a definition of `forms.json`."""
    return Meta(extra_json_schema={"$ref": f"#/$defs/{name}"})


Scope = Annotated[
    Literal["certified", "every path", "n paths"],
    said(
        "certified: every neighbouring input, every run, of this instance; every path: all public paths of "
        "the traced code; n paths: those that were traced."
    ),
]
Only = Annotated[bool, Meta(extra_json_schema={"const": True})]  # where absent says that it is not so
PairEntry = Annotated[Json, described("pair")]
_DIVERGED = ("", *map(str, Divergence))
Parted = Annotated[
    Literal[_DIVERGED],  # type: ignore[valid-type]  # the words of an enumeration
    said("Why a replay left the recorded run; empty if none did."),
]
Tests = Annotated[AtLeastOne, said("Number of tests that share alpha and the error of the bound.")]
Hits = Annotated[Count, said("Hits in the world that the direction names first.")]
AtDelta = Annotated[Loss, said("At the claimed delta.")]
Level = Annotated[Probability, said("Confidence of one interval.")]
Carried = Annotated[
    Only,
    said("Whether a run was seen to depend on the one before it; if so, nothing follows from the counts."),
]


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Statistics or the result of a check, or a part of them.

    Those of a class that takes unknown fields hold further values of the type `rest`. Of the fields
    `either` just one is there, and each of the fields `only` is true where it is there.
    """

    rest: ClassVar[Given] = Given
    either: ClassVar[tuple[str, ...]] = ()
    only: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def of(cls, values: Json) -> Self:
        """From JSON values.

        Raises
        ------
        msgspec.ValidationError
            If they do not fit.
        """
        more = {name: value for name, value in values.items() if name not in cls.__struct_encode_fields__}
        msgspec.convert(more, dict[str, cls.rest])  # type: ignore[name-defined]
        return msgspec.convert(values, cls)

    def __post_init__(self) -> None:
        if self.either and sum(getattr(self, name) is not UNSET for name in self.either) != 1:
            raise ValueError(f"exactly one of {' and '.join(self.either)} must be given")
        if found := [name for name in self.only if getattr(self, name) is False]:
            raise ValueError(f"{found[0]} must be true, or absent")


class RegretStatistics(Recorded, frozen=True, forbid_unknown_fields=False):
    """Contents of every check of regret, besides the numbers of its kind and of its runs."""

    rest: ClassVar[Given] = Scalar

    claim: Text
    alpha: OpenProbability
    confidence: OpenProbability
    instance: str | UnsetType = UNSET


class RegretResult(Recorded, frozen=True, forbid_unknown_fields=False):
    """What follows for a claim about regret: a verdict and numbers."""

    rest: ClassVar[Given] = Real

    verdict: RegretVerdict


class ByRow(Recorded, frozen=True):
    """What every table holds."""

    caption: Annotated[Text, said("What was played, how often, with which constants.")]
    confidence: Annotated[OpenProbability, said("Of all intervals of the table together.")]
