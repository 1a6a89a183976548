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
    start, end = f"<{tag}>".encode(), f"</{tag}>".encode()
    hashes = []
    for element in page_html().split(start)[1:]:
        content, _, _ = element.partition(end)
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        hashes.append(f"'sha256-{digest}'")
    return " ".join(hashes)


def list_calls(records: CallRecords) -> dict[str, object]:
    """The last calls, newest first, and how often each model succeeded."""
    figures = records.sum_figures()
    models = []
    for name in sorted(key[1] for key in figures if key[0] == "answers"):
        row: dict[str, object] = {"model": name}
        for kind in ("answers", "with_calls", "failed"):
            row[kind] = int(figures.get((kind, name), 0))
        models.append(row)
    return {"calls": records.list_last(), "models": models}
