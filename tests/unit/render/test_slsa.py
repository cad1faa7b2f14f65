"""SLSA provenance of a record: read by the protocol of its package, and held against the request."""

import copy
import hashlib
import json

import pytest
from google.protobuf import json_format
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.v1.statement_pb2 import Statement

import verifiable_dp as vdp
from verifiable_dp.core.validate import InputError
from verifiable_dp.record.model import Record
from verifiable_dp.record.sealing import text
from verifiable_dp.render import renderings
from verifiable_dp.render.slsa import to_slsa


@pytest.fixture(scope="module")
def record():
    return vdp.audit("nas", budget="smoke", mutants=False).record


def read(document):
    """The predicate, read without unknown fields."""
    statement = json.loads(document)
    json_format.ParseDict(statement, Statement())
    return json_format.ParseDict(statement["predicate"], Provenance())


def test_the_subject_is_the_file_and_the_parameters_are_what_was_asked(record, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(text(record), "utf-8")
    document = renderings.render(path, "slsa", url="https://ci.example/7").decode()
    statement, predicate = json.loads(document), read(document)
    assert statement["subject"] == [
        {"name": "r.json", "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
    ]
    asked, made = record["provenance"]["request"], statement["predicate"]["buildDefinition"]
    for name in ("question", "target", "claim", "inputs", "plan", "level", "seed", "declarations"):
        assert made["externalParameters"][name] == asked[name]
    tool = predicate.build_definition.resolved_dependencies[-1]
    assert tool.digest["sha256"] == asked["code"]
    assert predicate.run_details.metadata.invocation_id == "https://ci.example/7"
    assert predicate.run_details.metadata.started_on.ToJsonString() == record["provenance"]["started"]


def test_files_of_your_own_code_are_dependencies(record):
    other = copy.deepcopy(record)
    other["provenance"]["request"]["target"]["files"] = {"a.py": "0" * 64}
    found = read(to_slsa(Record.of(other))).build_definition.resolved_dependencies
    assert [one.uri for one in found][:-1] == ["file:a.py"]


def test_a_reader_of_the_protocol_refuses_other_fields(record):
    """The control of `read`."""
    statement = json.loads(to_slsa(Record.of(record)))
    statement["predicate"]["more"] = 1
    with pytest.raises(json_format.ParseError):
        read(json.dumps(statement))


def test_a_record_without_a_request_has_no_provenance(record):
    old = copy.deepcopy(record)
    del old["provenance"]["request"]
    with pytest.raises(InputError, match="to: slsa needs a record that holds what was asked"):
        to_slsa(Record.of(old))
