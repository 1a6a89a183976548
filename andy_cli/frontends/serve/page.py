"""The page `/`: the file beside this one, and what it shows."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from andy_cli.frontends.serve.call_records import CallRecords


@cache
def page_html() -> bytes:
    return (Path(__file__).parent / "page.html").read_bytes()


@cache
def page_headers() -> dict[str, str]:
    """Nothing runs or is loaded but what is in the page itself, byte for byte."""
    policy = [
        "default-src 'none'",
        f"script-src {_hash_content('script')}",
        f"style-src {_hash_content('style')}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
    return {
        "content-security-policy": "; ".join(policy),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }


def _hash_content(tag: str) -> str:
    elements = page_html().split(f"<{tag}>".encode())[1:]
    inside = (element.partition(f"</{tag}>".encode())[0] for element in elements)
    hashes = (base64.b64encode(hashlib.sha256(content).digest()).decode() for content in inside)
    return " ".join(f"'sha256-{digest}'" for digest in hashes)


def list_calls(records: CallRecords) -> dict[str, object]:
    """The last calls, newest first, and how often each model succeeded."""
    figures = records.sum_figures()
    models = [
        {
            "model": name,
            "answers": int(answers),
            "with_calls": int(figures.get(("with_calls", name), 0)),
            "failed": int(figures.get(("failed", name), 0)),
        }
        for (kind, *model_names), answers in sorted(figures.items())
        if kind == "answers"
        for name in model_names
    ]
    return {"calls": records.list_last(), "models": models}
