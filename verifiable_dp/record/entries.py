"""What the entries of records and of requests have in common."""

from __future__ import annotations

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from verifiable_dp.core.validate import InputError, Json, JsonDict
from verifiable_dp.evidence.fields import Recorded
from verifiable_dp.record.sealing import plain

Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Sealed = Annotated[str, Meta(pattern="^sha256:[0-9a-f]{64}$")]
Instant = Annotated[str, Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$")]


class RecordEntry(Recorded, frozen=True, omit_defaults=True):
    """A part of a record."""

    @classmethod
    def of(cls, values: Json | Self) -> Self:
        """From JSON values that fit the schema, or as it is if it was parsed already.

        Raises
        ------
        InputError
            If they do not; `verify` says why better.
        """
        if isinstance(values, cls):
            return values
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise InputError(f"record: the JSON does not fit the schema: {error}") from None

    def as_dict(self) -> JsonDict:
        """JSON values, as they stand in a record."""
        found: JsonDict = plain(msgspec.to_builtins(self, order="sorted"))
        return found
