"""Renderings held against what those who define a format publish: their schemas and their packages."""

import hashlib
import json
import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import check_jsonschema
import xmlschema
from click.testing import CliRunner
from google.protobuf import json_format
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage
from jsonschema import Draft4Validator, FormatChecker

from verifiable_dp.record.model import Record
from verifiable_dp.render.intoto import to_intoto
from verifiable_dp.render.junit import to_junit
from verifiable_dp.render.sarif import to_sarif

SCHEMAS = Path(__file__).parent / "data" / "schemas"


class NotOfTheFormatError(AssertionError):
    """What is wrong, one finding a line."""


def sarif(document):
    """The log, if it is SARIF 2.1.0 and each result is of a rule that it describes.

    Parameters
    ----------
    document
        Text of a file, or its path.
    """
    log = json.loads(_text(document))
    errors = [f"{error.json_path}: {error.message}" for error in _sarif_validator().iter_errors(log)]
    _refuse(errors)
    for run in log["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        _refuse([f"rule {rule} twice" for rule in set(rules) if rules.count(rule) > 1])
        _refuse([f"no rule {r['ruleId']}" for r in run["results"] if r["ruleId"] not in rules])
    return log


def junit(document):
    """The root element, if the report is what Jenkins and pytest hold to be JUnit."""
    text = _text(document)
    _refuse([f"{error.path}: {error.reason}" for error in _junit_schema().iter_errors(text)])
    return ET.fromstring(text)


def intoto(document):
    """The statement, if it is a Statement v1 with a test-result predicate, read without unknown fields."""
    statement = json.loads(_text(document))
    try:
        message = json_format.ParseDict(statement, StatementMessage())
        Statement.copy_from_pb(message).validate()
        result = json_format.ParseDict(statement["predicate"], TestResult())
        for descriptor in result.configuration:
            ResourceDescriptor.copy_from_pb(descriptor).validate()
    except (json_format.ParseError, ValueError) as error:
        raise NotOfTheFormatError(str(error)) from error
    kinds = {"PASSED", "WARNED", "FAILED"}  # a string in the protocol, one of these by the specification
    _refuse([f"result {result.result!r}"] if result.result not in kinds else [])
    digests = [s.digest for s in message.subject] + [d.digest for d in result.configuration]
    hexadecimal = re.compile("[0-9a-f]{64}")
    _refuse([f"digest {d}" for d in digests if not all(map(hexadecimal.fullmatch, d.values()))])
    return statement


def of_record(record):
    """Check all renderings of a record that have a schema; the SARIF log."""
    junit(to_junit(Record.of(record)))
    intoto(to_intoto(Record.of(record)))
    return sarif(to_sarif(Record.of(record)))


def service(schema, path, *options):
    """Hold a YAML file against a schema that check-jsonschema brings, such as ``github-actions``."""
    arguments = ["--builtin-schema", f"vendor.{schema}", *options, str(path)]
    done = CliRunner().invoke(check_jsonschema.main, arguments)
    if done.exit_code != 0:
        raise NotOfTheFormatError(done.output)


def recorded_digests():
    """SHA-256 of each copied schema, as the table beside them has it."""
    table = (SCHEMAS / "README.md").read_text("utf-8")
    return dict(re.findall(r"^\| `([\w.-]+)` \|.*`([0-9a-f]{64})` \|$", table, re.MULTILINE))


def digest(name):
    """SHA-256 of a copied schema."""
    return hashlib.sha256((SCHEMAS / name).read_bytes()).hexdigest()


def _text(document):
    return document.read_text("utf-8") if isinstance(document, Path) else document


def _refuse(errors):
    if errors:
        raise NotOfTheFormatError("\n".join(errors))


@cache
def _sarif_validator():
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text("utf-8"))
    Draft4Validator.check_schema(schema)
    checked = FormatChecker(formats=("uri", "uri-reference"))  # all formats of what we write
    return Draft4Validator(schema, format_checker=checked)


@cache
def _junit_schema():
    return xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd")
