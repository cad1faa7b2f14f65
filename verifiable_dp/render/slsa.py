"""Where a record comes from, as an in-toto Statement v1 with SLSA provenance v1, unsigned."""

from __future__ import annotations

from verifiable_dp.core.validate import InputError, JsonDict
from verifiable_dp.record.model import Record
from verifiable_dp.record.provenance import TREE
from verifiable_dp.render.intoto import run_of, sha256_of, statement
from verifiable_dp.render.rendering import Rendering
from verifiable_dp.targets.process import PROGRAM

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
        If the record holds no request, as that of an older version or of a rerun.

    Source
    ------
    SLSA v1.0, provenance predicate; in-toto attestation framework, Statement v1.
    """
    made = record.provenance
    asked = made.request
    if asked is None:
        raise InputError("to: slsa needs a record that contains its request; audit again with this version")
    request = asked.as_dict()
    files = [
        {"uri": f"file:{path.removeprefix(PROGRAM)}", "digest": {"sha256": found}}
        for path, found in request["target"]["files"].items()
        if path != TREE
    ]
    predicate: JsonDict = {
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
                "invocationId": run_of(record, url) or request["digest"],
                "startedOn": made.started,
                "finishedOn": made.finished,
            },
            "byproducts": [{"name": "request", "digest": {"sha256": request["digest"].partition(":")[2]}}],
        },
    }
    return statement(name, sha256_of(record, content), PREDICATE, predicate)


_OWN = ("digest", "packages", "nonce", "code", "made", "schema_version")  # of the run, or said elsewhere

SLSA = Rendering(
    "slsa",
    lambda shown: to_slsa(shown.record, name=shown.name, content=shown.content, url=shown.url),
    takes_url=True,
)
