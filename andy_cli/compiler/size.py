"""The size of a model, as far as its name says.

qwen2.5:7b   SmolLM2-135M-Instruct   Mixtral-8x7B   gemma3n:e4b   Name-30B-A3B   stable-1_6b
"""

from andy_cli.compiler.expression import Expression

BILLIONS = {"m": 0.001, "b": 1.0, "t": 1000.0}

LEAST = 0.01
"""Billions: `135m` are parameters, `1m` is a context of a million tokens."""

SIZE = Expression(
    r"(?<![a-z0-9.])[a-z]*(?:(\d{1,3})x)?(\d{1,4}(?:[.p]\d{1,3})?|(?<=-)\d_\d)([mbt])(?![a-z0-9])"
)


def parse_billions(model: str) -> float | None:
    """The parameters in billions, of the experts together; None where the name does not tell.

    Folder and vendor do not count, a tag does: there is where Ollama writes the size.
    """
    name = model.lower().replace("\\", "/").rstrip("/").rpartition("/")[2]
    return max(
        (size for match in SIZE.finditer(name) if (size := _size(*match.groups()))), default=None
    )


def _size(experts: str | None, number: str, unit: str) -> float | None:
    one_expert = float(number.replace("p", ".").replace("_", ".")) * BILLIONS[unit]
    size = one_expert * int(experts or 1)
    return size if size >= LEAST else None
