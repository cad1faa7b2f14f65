"""Records and their parts, made of JSON values as tests edit them."""

from collections.abc import Iterable

from verifiable_dp.compliance import blocks
from verifiable_dp.compliance.nist import Reviewed
from verifiable_dp.core.validate import Json
from verifiable_dp.evidence.check import Check
from verifiable_dp.record.model import Record


def read_all(checks: Iterable[Json | Check]) -> list[Check]:
    """Checks of a record, or of the draft of one."""
    return [check if isinstance(check, Check) else Check.read(check) for check in checks]


def reviewed(values: Json) -> Reviewed:
    """A record with its blocks, as the card reads it."""
    record = Record.of(values)
    return Reviewed.with_blocks(record, blocks.of(record))


def resolve(record, place):
    """What a JSON pointer points to in a record; KeyError or IndexError if there is nothing."""
    value = record
    for part in place.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value
