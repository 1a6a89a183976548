"""What redacting costs for each megabyte, of ordinary text and of text that is hostile to it.

The floor of a row is the same text, a quarter as long: where both cost the same for a megabyte, the
time grows as the text does.
"""

import time
from statistics import median

from andy_cli.guard.redactor import redact_text
from tests.benchmarks.measure import table

SIZE = 1_000_000
RUNS = 3
SECRET = "0ELPMAXE0ELPMAXE0ELPMAXEzz"
TEXTS = {
    "prose": "The quick brown fox jumps over the lazy dog, and its tokens are counted.\n",
    "lines of keys": "API_KEY=Zx8QwB3nTb9Lk2Vm7RsYp4\n",
    "keys in broken lines": "token=abcdefgh1\nk2Vm7Rs\n",
    "forms, line by line": "sk-EXAMPLE0EXAMPLE0EXAMPLE0\n",
    "openers": "sk-",
    "names": "token=",
    "lists": "tokens: [",
    "blanks": " ",
}


def seconds_a_megabyte(text: str, size: int) -> float:
    whole = text * (size // len(text))
    times = []
    for _ in range(RUNS):
        started = time.process_time()
        redact_text(whole, [SECRET])
        times.append(time.process_time() - started)
    return median(times) / len(whole) * 1e6


def main() -> None:
    rows = []
    for name, text in TEXTS.items():
        whole, quarter = seconds_a_megabyte(text, SIZE), seconds_a_megabyte(text, SIZE // 4)
        rows.append(
            (name, f"{whole:.2f} s/MB", f"{quarter:.2f} s/MB", f"{whole / quarter:.2f} (1)")
        )
    table("redactor: 1 MB beside 250 KB", rows)
