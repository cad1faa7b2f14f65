"""DSSE envelopes: what is signed, its type, and by whom, in one file (Dead Simple Signing Envelope 1.0).

Tools for attestations read them. Signed is the pre-authentication encoding of type and payload.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, JsonDict
from verifiable_dp.record.signing import KeyRing, fingerprint_of, holds, signature_of

IN_TOTO = "application/vnd.in-toto+json"
_LARGEST = 1 << 20  # bytes of a file


def encoded(kind: str, payload: bytes) -> bytes:
    """The bytes that are signed: lengths are part of them, so that nothing moves from one to the other."""
    words = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(words), words, len(payload), payload)


def envelope(payload: bytes, key: str | Path, kind: str = IN_TOTO) -> str:
    """A signed envelope around a payload.

    Raises
    ------
    InputError
        If the key is not a private Ed25519 key, or others can read it.
    """
    signed, name = signature_of(encoded(kind, payload), key)
    whole = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": kind,
        "signatures": [{"keyid": name, "sig": base64.b64encode(signed).decode()}],
    }
    return json.dumps(whole, indent=1) + "\n"


def is_envelope(path: str | Path) -> bool:
    """Whether a file is one, as far as its form says."""
    try:
        return isinstance(_read(path).get("payloadType"), str)
    except InputError:
        return False


def opened(path: str | Path, ring: KeyRing, kind: str = IN_TOTO) -> tuple[bytes, str, str]:
    """The payload of an envelope, who of a ring of keys has signed it, and the fingerprint of the key.

    Raises
    ------
    InputError
        If it cannot be read, is of another type, or no key of the ring has signed it.
    """
    whole = _read(path)
    try:
        payload = base64.b64decode(whole["payload"], validate=True)
        found = [base64.b64decode(one["sig"], validate=True) for one in whole["signatures"]]
        stated = str(whole["payloadType"])
    except (binascii.Error, ValueError, LookupError, TypeError):
        raise InputError(f"signature: {str(path)!r} is not a DSSE envelope") from None
    if stated != kind:
        raise InputError(f"signature: payloadType must be {kind}, got {stated[:80]!r}")
    for name, key in ring.items():
        if any(holds(encoded(kind, payload), one, key) for one in found):
            return payload, name, fingerprint_of(key)
    raise InputError(f"signature: {str(path)!r} is not valid for the keys {', '.join(ring)}")


def _read(path: str | Path) -> JsonDict:
    try:
        found = json.loads(files.content("signature", path, _LARGEST))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"signature: {str(path)!r} is not a DSSE envelope")
    return found
