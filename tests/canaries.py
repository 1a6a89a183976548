"""Made-up secrets, and the search for them wherever they have no business.

canary = make_canary("sk-proj", random.Random(1))
forms_of(canary)        as it is, in Base64, in hexadecimal, as in an address, in JSON
"""

import base64
import json
import random
import string
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from urllib.parse import quote, quote_plus

LETTERS = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def draw(chance: random.Random, alphabet: str, length: int) -> str:
    return "".join(chance.choices(alphabet, k=length))


SHAPES: Mapping[str, Callable[[random.Random], str]] = {
    "openai": lambda chance: "sk-proj-" + draw(chance, LETTERS + "_-", 60) + "A1",
    "anthropic": lambda chance: "sk-ant-api03-" + draw(chance, LETTERS + "_-", 90) + "AA",
    "github": lambda chance: "ghp_" + draw(chance, LETTERS, 36),
    "gitlab": lambda chance: "glpat-" + draw(chance, LETTERS + "_-", 19) + "x",
    "slack": lambda chance: f"xoxb-{draw(chance, string.digits, 12)}-{draw(chance, LETTERS, 24)}",
    "google": lambda chance: "AIza" + draw(chance, LETTERS + "_-", 34) + "b",
    "stripe": lambda chance: "sk_live_" + draw(chance, LETTERS, 24),
    "huggingface": lambda chance: "hf_" + draw(chance, string.ascii_letters, 34),
    "aws id": lambda chance: "AKIA" + draw(chance, string.ascii_uppercase + string.digits, 16),
    "aws key": lambda chance: draw(chance, LETTERS, 12) + "/" + draw(chance, LETTERS + "+/", 27),
    "hex": lambda chance: draw(chance, HEX, 40),
    "jwt": lambda chance: ".".join(
        ["eyJhbGciOiJIUzI1NiJ9", "eyJ" + draw(chance, LETTERS, 40), draw(chance, LETTERS, 43)]
    ),
    "password": lambda chance: draw(chance, LETTERS + "!%*=^~#", 18) + "9z",
}


def make_canary(shape: str, chance: random.Random) -> str:
    return SHAPES[shape](chance)


@cache
def forms_of(canary: str) -> Mapping[str, bytes]:
    """The canary as bytes, in each way in which it might be written."""
    data = canary.encode()
    forms = {
        "plain": data,
        "JSON": json.dumps(canary)[1:-1].encode(),
        "an address": quote(canary, safe="").encode(),
        "the path of an address": quote(canary).encode(),
        "a form": quote_plus(canary).encode(),
        "hexadecimal": data.hex().encode(),
    }
    for shift in range(3):
        # What stands in front moves the bits; the first and last characters hold foreign ones.
        for name, alphabet in (("Base64", b"+/"), ("Base64 for addresses", b"-_")):
            coded = base64.b64encode(bytes(shift) + data, alphabet).rstrip(b"=")
            first = (shift * 8 + 5) // 6
            forms[f"{name}, moved by {shift}"] = coded[first:-1]
    return forms


def find_canaries(data: bytes, canaries: Mapping[str, str]) -> Iterable[str]:
    """Which of them are in there, and how."""
    for place, canary in canaries.items():
        for form, looked_for in forms_of(canary).items():
            if looked_for in data:
                yield f"the one in {place}, {form}"
                break
