"""Google's own description of its APIs, as google-api-python-client carries it: what requests and
answers must look like.

    called(asked)               the method that a request calls; fails if it does not fit
    fits(method, answer)        fails unless an answer is one that the method gives
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

import pytest

from tests.google.emulator import Asked

DOCUMENTS = ("gmail.v1", "drive.v3", "calendar.v3", "docs.v1", "sheets.v4", "tasks.v1")
UPLOADING = {"uploadType": {"type": "string"}}
PLAIN: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "any": object,
}


class Method(NamedTuple):
    id: str
    verb: str
    path: re.Pattern[str]
    about: Mapping[str, Any]
    document: Mapping[str, Any]
    upload: bool


def called(asked: Asked) -> Method:
    found = [
        each for each in methods() if each.verb == asked.method and each.path.fullmatch(asked.path)
    ]
    assert found, f"no method of Google's is {asked.method} {asked.path}"
    method = max(found, key=lambda each: len(each.path.pattern))
    _query(method, parse_qsl(asked.query, keep_blank_values=True, strict_parsing=bool(asked.query)))
    if method.upload:
        assert asked.kind, f"{method.id}: content of no kind"
    elif asked.body:
        assert asked.kind.startswith("application/json"), f"{method.id}: {asked.kind}"
        _shape(json.loads(asked.body), method.about["request"], method.document, method.id)
    return method


def fits(method: Method, answer: object) -> None:
    wanted = method.about.get("response")
    if wanted is None:
        assert not answer, f"{method.id} answers nothing"
    else:
        _shape(answer, wanted, method.document, method.id)


def _query(method: Method, pairs: list[tuple[str, str]]) -> None:
    known = method.document["parameters"] | method.about.get("parameters", {})
    known |= UPLOADING if method.upload else {}
    given = [name for name, _ in pairs]
    for name, value in pairs:
        assert name in known, f"{method.id} knows no {name}"
        about = known[name]
        assert about.get("location", "query") == "query", f"{method.id}: {name} is in the path"
        assert given.count(name) == 1 or about.get("repeated"), f"{method.id}: {name} twice"
        _parameter(value, about, f"{method.id} {name}")
        if name == "fields":
            _mask(value, method.about["response"], method.document)
    required = [
        name
        for name, about in method.about.get("parameters", {}).items()
        if about.get("required") and about["location"] == "query"
    ]
    assert set(required) <= set(given), f"{method.id} wants {required}"


def _parameter(value: str, about: Mapping[str, Any], where: str) -> None:
    if "enum" in about:
        assert value in about["enum"], f"{where}: {value}"
    if about["type"] == "integer":
        number = int(value)
        assert int(about.get("minimum", number)) <= number <= int(about.get("maximum", number)), (
            where
        )
    if about["type"] == "boolean":
        assert value in ("true", "false"), f"{where}: {value}"
    if about.get("format") == "date-time":
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)", value), f"{where}: {value}"


def _mask(mask: str, schema: Mapping[str, Any], document: Mapping[str, Any]) -> None:
    """`nextPageToken,files(id,name)`: which fields of an answer are wanted."""
    schema = document["schemas"][schema["$ref"]] if "$ref" in schema else schema
    for name, inner in re.findall(r"(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?", mask):
        about = schema["properties"].get(name)
        assert about is not None, f"there is no field {name} in {schema.get('id')}"
        if inner:
            _mask(inner, about.get("items", about), document)


def _shape(value: object, schema: Mapping[str, Any], document: Mapping[str, Any], at: str) -> None:
    if "$ref" in schema:
        schema = document["schemas"][schema["$ref"]]
    kind = schema.get("type", "any")
    assert isinstance(value, PLAIN[kind]), f"{at}: {value!r:.80} is no {kind}"
    assert not (isinstance(value, bool) and kind in ("integer", "number")), at
    if "enum" in schema:
        assert value in schema["enum"], f"{at}: {value}"
    if schema.get("format") in ("int64", "uint64") and isinstance(value, str):
        assert re.fullmatch(r"-?\d+", value), f"{at}: {value}"
    if isinstance(value, list):
        for each in value:
            _shape(each, schema["items"], document, f"{at}[]")
    if isinstance(value, dict) and kind == "object":
        for name, each in value.items():
            about = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            assert about is not None, f"{at} has no {name}"
            _shape(each, about, document, f"{at}.{name}")


@cache
def methods() -> list[Method]:
    folder = pytest.importorskip(
        "googleapiclient", reason="needs google-api-python-client"
    ).__path__[0]
    documents = Path(folder) / "discovery_cache" / "documents"
    found: list[Method] = []
    for name in DOCUMENTS:
        document = json.loads((documents / f"{name}.json").read_text(encoding="utf-8"))
        for about in _methods(document):
            path = "/" + document["servicePath"] + (about.get("flatPath") or about["path"])
            found.append(_method(about, document, path, upload=False))
            if "mediaUpload" in about:
                simple = about["mediaUpload"]["protocols"]["simple"]["path"]
                found.append(_method(about, document, simple, upload=True))
    return found


def _method(
    about: Mapping[str, Any], document: Mapping[str, Any], path: str, upload: bool
) -> Method:
    parts = re.split(r"\{\+?\w+\}", path)
    pattern = re.compile("[^/]+".join(map(re.escape, parts)))
    return Method(about["id"], about["httpMethod"], pattern, about, document, upload)


def _methods(resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from resource.get("methods", {}).values()
    for each in resource.get("resources", {}).values():
        yield from _methods(each)


def parts(path: str) -> list[str]:
    """The parts of a path, unquoted."""
    return [unquote(each) for each in path.split("/") if each]
