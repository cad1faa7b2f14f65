"""Detached Ed25519 signatures of records (extra `sign`).

Signed is the canonical JSON of the whole record, its digest included: UTF-8, keys sorted, no spaces, as
`sealing.canonical` writes it. Layout and key order of the file do not matter, every value does. The signature
file is a small JSON object; only its ``signature`` (Base64 of 64 bytes) counts, once it has been checked
against the key that the verifier brings. The rest helps to say what is wrong.

Keys are made by `keygen`, or by openssl::

    openssl genpkey -algorithm ed25519 -out private.pem
    openssl pkey -in private.pem -pubout -out public.pem
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from verifiable_dp.core import files
from verifiable_dp.core.validate import InputError, Json, JsonDict, named
from verifiable_dp.record.sealing import canonical
from verifiable_dp.record.verify import check_digest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "Ed25519"
SIGNS = "the canonical JSON of the record, digest included"
_LARGEST = 64 << 10  # bytes of a key or of a signature file


def signed_bytes(record: Json) -> bytes:
    """The bytes that are signed."""
    return canonical(record).encode()


def keygen(prefix: str | Path) -> tuple[Path, Path]:
    """Make a key pair: ``<prefix>.pem``, readable by its owner only, and ``<prefix>.pub``.

    Raises
    ------
    InputError
        If either is there already: a key that is overwritten can never sign again.
    """
    serialization = _cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    paths = Path(f"{prefix}.pem"), Path(f"{prefix}.pub")
    for path in paths:
        if path.exists() or path.is_symlink():
            raise InputError(f"prefix: {str(path)!r} already exists; we do not overwrite it")
    key, pem = Ed25519PrivateKey.generate(), serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    try:
        handle = os.open(paths[0], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InputError(f"prefix: {str(paths[0])!r} cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(private)
        files.write_bytes(paths[1], key.public_key().public_bytes(pem, form))
    except (OSError, InputError) as error:  # half a key signs nothing, and would be in the way
        paths[0].unlink()
        if isinstance(error, InputError):
            raise
        raise InputError(f"prefix: {str(paths[0])!r} cannot be written: {error.strerror}") from None
    return paths


def sign(record: Json, key: str | Path) -> str:
    """Sign a record.

    Parameters
    ----------
    record
        A whole record, or another data file with a digest.
    key
        Path of an Ed25519 private key: PEM, PKCS #8, without a password, readable by its owner only.

    Returns
    -------
    str
        The signature file: JSON with ``algorithm``, ``signs``, ``digest``, ``public_key`` (SHA-256 of the
        public key's DER form, to tell keys apart) and ``signature``.

    Raises
    ------
    InputError
        If the digest is missing or wrong, or the key is unreadable or of another kind.
    """
    check_digest(record)
    private = _private(key)
    signature = {
        "algorithm": ALGORITHM,
        "signs": SIGNS,
        "digest": record["digest"],
        "public_key": _fingerprint(private.public_key()),
        "signature": base64.b64encode(private.sign(signed_bytes(record))).decode(),
    }
    return json.dumps(signature, indent=1) + "\n"


def check(record: Json, key: str | Path, signature: str | Path) -> str:
    """Check a signature.

    Parameters
    ----------
    record
        As it was read.
    key
        Path of the Ed25519 public key that the verifier trusts: PEM.
    signature
        Path of the signature file.

    Returns
    -------
    str
        Fingerprint of the key, ``sha256:`` and hexadecimal digits.

    Raises
    ------
    InputError
        If a file is missing or malformed, the record was altered, or the signature is by another key or of
        another record.
    """
    public, found = _public(key), read_signature(signature)
    from cryptography.exceptions import InvalidSignature

    check_digest(record)
    try:
        public.verify(_decoded(found), signed_bytes(record))
    except InvalidSignature:
        raise InputError(f"the signature is not valid: {_why(record, public, found)}") from None
    return _fingerprint(public)


@dataclass(frozen=True)
class SignatureState:
    """What is known of a signature.

    Attributes
    ----------
    words
        In a few words.
    holds
        Whether it holds; None where there is none, or where it was not checked.
    """

    words: str
    holds: bool | None = None

    @property
    def there(self) -> bool:
        """Whether there is a file of that name."""
        return self != NONE


NONE = SignatureState("no signature found")


def beside(path: str | Path, digest: str) -> SignatureState:
    """What is known of the signature file of a record without a key.

    It may be missing or was not checked; one for another record does not hold whatever the key.

    Parameters
    ----------
    path
        Of the signature file.
    digest
        Of the record, as it was read.
    """
    place = Path(path)
    if not place.is_file():
        return NONE
    try:
        found = read_signature(place)
    except InputError:
        return SignatureState("a signature file was found, but it cannot be read, so it was not checked")
    if found.get("digest") != digest:
        return SignatureState(f"a signature file was found, but it is not valid: {_OTHER}", holds=False)
    key = str(found.get("public_key", ""))[:80]
    return SignatureState(f"a signature file was found that names the key {key}, but it was not checked")


_OTHER = "it is for another record, or the record was altered and given a new digest"


def signature_of(content: bytes, key: str | Path) -> tuple[bytes, str]:
    """The signature of some bytes with a private key, and the fingerprint of the public one.

    Raises
    ------
    InputError
        See `sign`.
    """
    private = _private(key)
    return private.sign(content), _fingerprint(private.public_key())


def holds(content: bytes, signature: bytes, key: str | Path) -> bool:
    """Whether a signature of some bytes is by the owner of a public key."""
    public = _public(key)
    from cryptography.exceptions import InvalidSignature

    try:
        public.verify(signature, content)
    except InvalidSignature:
        return False
    return True


def fingerprint_of(key: str | Path) -> str:
    """Of a public key."""
    return _fingerprint(_public(key))


KeyRing = Mapping[str, Path]  # names of those who sign, and the files with their public keys


def keyring(given: Sequence[str | Path]) -> KeyRing:
    """The keys that a verifier trusts: files ``NAME.pub``, or folders of such files.

    Raises
    ------
    InputError
        If a folder holds none, two files are called the same, or one is not a public key.
    """
    found = dict[str, Path]()
    for place in map(Path, given):
        files_of = sorted(place.glob("*.pub")) if place.is_dir() else [place]
        if not files_of:
            raise InputError(f"key: no public keys NAME.pub in {str(place)!r}")
        for path in files_of:
            if path.stem in found:
                raise InputError(f"key: two keys are called {path.stem!r}")
            _public(path)
            found[path.stem] = path
    return found


def state(path: str | Path, record: Json, ring: KeyRing) -> SignatureState:
    """What is known of the signature file of a record: none, not checked, holds for a name, does not hold.

    Parameters
    ----------
    path
        Of the signature file.
    record
        As it was read.
    ring
        Keys that are trusted; without any, nothing is checked.
    """
    known = beside(path, str(record["digest"]))
    if not ring or not known.there or known.holds is False:
        return known
    for name, key in ring.items():
        with contextlib.suppress(InputError):
            return SignatureState(
                f"valid signature: Ed25519 key {check(record, key, path)} of {named(name)}", holds=True
            )
    names = ", ".join(map(named, ring))
    return SignatureState(f"a signature file was found, but it is not valid for {names}", holds=False)


def _why(record: Json, public: Ed25519PublicKey, found: Json) -> str:
    """What is wrong, as far as the signature file can be believed."""
    if found.get("digest") != record["digest"]:
        return _OTHER
    if found.get("public_key") != _fingerprint(public):
        return f"it was made with a key other than {_fingerprint(public)}"
    return "it does not fit the record: one of the two was altered"


def _cryptography() -> ModuleType:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise InputError(
            "key: signatures need the package cryptography, which the extra verifiable-dp[sign] installs"
        ) from None
    return serialization


def _private(path: str | Path) -> Ed25519PrivateKey:
    serialization = _cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    content = files.content("key", path, _LARGEST, private=b"PRIVATE KEY")
    try:
        loaded = serialization.load_pem_private_key(content, password=None)
    except TypeError:
        raise InputError(f"key: {str(path)!r} is encrypted; give a key without a password") from None
    except Exception:  # what a malformed key raises depends on how it is malformed
        raise InputError(f"key: {str(path)!r} is not a private PEM key (openssl genpkey)") from None
    if not isinstance(loaded, Ed25519PrivateKey):
        raise InputError(f"key: {str(path)!r} must be an Ed25519 key, got {type(loaded).__name__}")
    return loaded


def _public(path: str | Path) -> Ed25519PublicKey:
    serialization = _cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = files.content("key", path, _LARGEST)
    if b"PRIVATE KEY" in content:
        raise InputError(f"key: {str(path)!r} is a private key; verify needs the public one")
    try:
        loaded = serialization.load_pem_public_key(content)
    except Exception:  # what a malformed key raises depends on how it is malformed
        raise InputError(f"key: {str(path)!r} is not a public PEM key (openssl pkey -pubout)") from None
    if not isinstance(loaded, Ed25519PublicKey):
        raise InputError(f"key: {str(path)!r} must be an Ed25519 key, got {type(loaded).__name__}")
    return loaded


def _fingerprint(public: Ed25519PublicKey) -> str:
    serialization = _cryptography()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return "sha256:" + hashlib.sha256(public.public_bytes(serialization.Encoding.DER, form)).hexdigest()


def read_signature(path: str | Path) -> JsonDict:
    """What a signature file says, which nobody has checked.

    Raises
    ------
    InputError
        If the file is missing, too large or no signature file of verifiable-dp.
    """
    content = files.content("signature", path, _LARGEST)
    try:
        loaded = json.loads(content)
    except (ValueError, RecursionError):
        loaded = None
    if not isinstance(loaded, dict) or not isinstance(loaded.get("signature"), str):
        raise InputError(f"signature: {str(path)!r} is not a signature file of verifiable-dp")
    if loaded.get("algorithm") != ALGORITHM:
        raise InputError(f"signature: algorithm must be {ALGORITHM}, got {loaded.get('algorithm')!r}")
    return loaded


def _decoded(found: Json) -> bytes:
    try:
        return base64.b64decode(found["signature"], validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the signature is not Base64") from None
