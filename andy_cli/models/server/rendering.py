"""Rendering of a server's chat template with a tool call: apart, bounded in time and size."""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path

RENDERER = Path(__file__).with_name("renderer.py")
TIMEOUT = 5.0
"""Seconds for the whole of it, the start of a process included."""
MAX_BYTES = 2**19
"""Bytes of the answer."""


async def render_template(template: str) -> tuple[str, ...]:
    """The conversation as the template writes it, in up to two ways; empty if it cannot.

    Never raises. Templates in another language than Jinja (Ollama's) give nothing.
    """
    if "{%" not in template and "{{" not in template:
        return ()
    try:
        # Isolated: neither the environment nor the current folder may lend it code.
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(RENDERER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ()
    try:
        async with asyncio.timeout(TIMEOUT):
            child_output, _ = await child.communicate(template.encode("utf-8", "replace"))
        rendered_texts = json.loads(child_output[:MAX_BYTES]) if child.returncode == 0 else []
    except (TimeoutError, ValueError, OSError):
        return ()
    finally:
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()
    return tuple(item for item in rendered_texts if isinstance(item, str))
