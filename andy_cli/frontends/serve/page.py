"""The page `/`: the file beside this one, and what it shows."""

import base64
import hashlib
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from andy_cli.frontends.serve.records import Record, Records


@cache
def text() -> bytes:
    return (Path(__file__).parent / "page.html").read_bytes()


@cache
def headers() -> dict[str, str]:
    """Nothing runs or is loaded but what is in the page itself, byte for byte."""
    policy = [
        "default-src 'none'",
        f"script-src {_hashed('script')}",
        f"style-src {_hashed('style')}",
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


def _hashed(tag: str) -> str:
    inside = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), text(), re.DOTALL)
    hashes = (base64.b64encode(hashlib.sha256(each).digest()).decode() for each in inside)
    return " ".join(f"'sha256-{each}'" for each in hashes)


def calls(records: Records) -> dict[str, object]:
    """The last calls, newest first, and how often each model succeeded."""
    models = [
        {
            "model": name,
            "answers": tally.answers,
            "with_calls": tally.with_calls,
            "failed": tally.failed,
        }
        for name, tally in sorted(records.models.items())
    ]
    return {"calls": [_told(each) for each in records.last], "models": models}


def _told(record: Record) -> dict[str, object]:
    return {
        "began": datetime.fromtimestamp(record.began, UTC).isoformat(timespec="seconds"),
        "surface": record.surface,
        "model": record.model,
        "way": record.way,
        "status": record.status,
        "seconds": record.seconds,
        "calls": record.calls,
        "asked": record.asked,
        "raw": record.raw,
        "compiled": record.compiled,
        "repairs": list(record.repairs),
    }
