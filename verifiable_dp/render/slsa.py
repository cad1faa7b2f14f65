"""Where a record comes from, as an in-toto Statement v1 with SLSA provenance v1, unsigned."""

from __future__ import annotations

import hashlib
import json

from verifiable_dp.core.validate import InputError, JsonDict
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import text
from verifiable_dp.render.intoto import STATEMENT
from verifiable_dp.render.rendering import Rendering

PREDICATE = "https://slsa.dev/provenance/v1"
PACKAGE = "pkg:pypi/verifiable-dp"
TYPE = f"{PACKAGE}#audit"  # says what the parameters mean: those of a request, see `request-1.json`


def to_slsa(record: Record, *, name: str = "record.json", content: bytes | None = None, url: str = "") -> str:
    """The statement: what was asked, of which bytes, by which tool, made this record.

    Parameters
    ----------
    record
        A whole record.
    name
        File name of the record, which is the subject.
    content
        Bytes of that file; as `sealing.text` writes it by default.
    url
        Of the run of CI; that of the record, if it knows one, by default.

    Raises
    ------
    InputError
        If the record holds no request, as that of an older version or of a re-run.

    Source
    ------
    SLSA v1.0, provenance predicate; in-toto attestation framework, Statement v1.
    """
    made = record.provenance
    asked = made.request
    if asked is None:
        raise InputError("to: slsa needs a record that contains its request; audit again with this version")
    written = text(record.as_dict()).encode() if content is None else content
    request = asked.as_dict()
    known = made.ci.run_url if made.ci else None
    files = [
        {"uri": f"file:{path}", "digest": {"sha256": found}}
        for path, found in request["target"]["files"].items()
    ]
    statement: JsonDict = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": hashlib.sha256(written).hexdigest()}}],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": TYPE,
                "externalParameters": {key: value for key, value in request.items() if key not in _OWN},
                "internalParameters": {"packages": request["packages"], "nonce": request["nonce"]},
                "resolvedDependencies": [
                    *files,
                    {
                        "uri": f"{PACKAGE}@{made.version}",
                        "digest": {"sha256": request["code"]},
                        "annotations": {"commit": made.commit, "dirty": made.dirty},
                    },
                ],
            },
            "runDetails": {
                "builder": {"id": f"{PACKAGE}@{made.version}", "version": {"python": made.python}},
                "metadata": {
                    "invocationId": url or known or request["digest"],
                    "startedOn": made.started,
                    "finishedOn": made.finished,
                },
                "byproducts": [
                    {"name": "request", "digest": {"sha256": request["digest"].partition(":")[2]}}
                ],
            },
        },
    }
    return json.dumps(statement, indent=1, ensure_ascii=False) + "\n"


_OWN = ("digest", "packages", "nonce", "code", "made", "schema_version")  # of the run, or said elsewhere

SLSA = Rendering(
    "slsa",
    lambda shown: to_slsa(shown.record, name=shown.name, content=shown.content, url=shown.url),
    takes_url=True,
)
