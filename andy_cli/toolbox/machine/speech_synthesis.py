"""Speech by a program of the system: a text becomes a WAV file.

`say` on macOS, SAPI by PowerShell on Windows, espeak-ng elsewhere. The text goes in by standard
input, never by the command line.
"""

import contextlib
import difflib
import os
import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.guard.terminal_sanitizer import one_line, spell_out
from andy_cli.toolbox.programs import voice_program
from andy_cli.toolbox.runtime_context import Work
from andy_cli.toolbox.terminal.environment import clean_environment

TIMEOUT = 10
"""Seconds that listing the voices may take."""
SAMPLES_FROM = 44
"""Bytes of the header of a WAV file: what is no longer holds no sound."""


class Voice(NamedTuple):
    id: str
    """As the program takes it."""
    language: str
    """As `en-gb`."""
    name: str


class Style(NamedTuple):
    speed: int = 175
    """Words a minute."""
    pitch: int = 50
    """0 to 99."""
    loudness: int = 100
    """Per cent."""
    variant: str = ""
    """A way of speaking that espeak-ng knows."""


PLAIN = Style()
STYLES: dict[str, dict[str, Any]] = {
    "slow": {"speed": 130},
    "slowly": {"speed": 130},
    "fast": {"speed": 220},
    "quick": {"speed": 220},
    "urgent": {"speed": 210, "pitch": 60},
    "calm": {"speed": 145, "pitch": 42},
    "gentle": {"speed": 150, "loudness": 80},
    "soft": {"loudness": 60},
    "quiet": {"loudness": 60},
    "loud": {"loudness": 150},
    "high": {"pitch": 75},
    "low": {"pitch": 25},
    "deep": {"pitch": 20},
    "serious": {"speed": 155, "pitch": 35},
    "sad": {"speed": 125, "pitch": 32},
    "happy": {"speed": 190, "pitch": 65},
    "cheerful": {"speed": 190, "pitch": 65},
    "excited": {"speed": 205, "pitch": 70},
    "whisper": {"variant": "whisper"},
    "whispering": {"variant": "whisper"},
}
"""The changes that each word makes to the plain one."""


def style_of(words: str) -> Style:
    """The style that the words ask for, one change put on the other; plain where none is known."""
    changes: dict[str, Any] = {}
    # The first word counts where two change the same.
    for word in reversed(re.findall(r"[a-z]+", words.lower())):
        changes |= STYLES.get(word, {})
    return Style(**changes)


def voice_of(wanted_voice: str) -> str:
    """The voice of that id, name or language, as the program takes it; empty for its own choice.

    Raises ToolError that names the nearest ones.
    """
    if not wanted_voice.strip():
        return ""
    voices = _list_voices(voice_program())
    folded_voice = _fold_name(wanted_voice)
    if named_voices := [voice for voice in voices if folded_voice in _voice_names(voice)]:
        return named_voices[0].id
    language = folded_voice.partition("-")[0]
    same_language = [
        voice for voice in voices if _fold_name(voice.language).partition("-")[0] == language
    ]
    if same_language and re.fullmatch(r"[a-z]{2,3}(?:-[a-z]{2,4})?", folded_voice):
        return same_language[0].id
    raise ToolError(
        f"There is no voice {spell_out(wanted_voice)[:60]}. {_nearest_voices(folded_voice, voices)}"
    )


def _voice_names(voice: Voice) -> tuple[str, ...]:
    """List the names of a voice: `en-gb`, `English_(Great_Britain)`, `English`."""
    name = _fold_name(voice.name)
    return _fold_name(voice.id), _fold_name(voice.language), name, name.partition("-(")[0]


def _fold_name(text: str) -> str:
    return text.strip().lower().replace("_", "-").replace(" ", "-")


def _nearest_voices(folded_voice: str, voices: Sequence[Voice]) -> str:
    # Of voices with one name the first stays, which the program prefers.
    by_name = {name: voice.id for voice in reversed(voices) for name in _voice_names(voice)}
    close_matches = difflib.get_close_matches(folded_voice, by_name, n=4, cutoff=0.5)
    names = dict.fromkeys(by_name[match] for match in close_matches)
    if not names:
        names = dict.fromkeys(voice.id for voice in voices if voice.language[:2] == "en")
    return f"The nearest: {', '.join(list(names)[:6])}."


@cache
def _list_voices(program: str) -> list[Voice]:
    """The voices there are, those first that the program prefers."""
    name = Path(program).stem
    if name == "say":
        voice_lines = re.findall(
            r"(?m)^(\S.*?)\s{2,}(\w\w[_-]\w+)", _print_line([program, "-v", "?"])
        )
        return [Voice(name, language, name) for name, language in voice_lines]
    if name in ("powershell", "pwsh"):
        listed = _print_line([program, "-NoProfile", "-Command", SAPI_VOICES])
        pairs = (line.rpartition("|") for line in listed.splitlines() if "|" in line)
        return [Voice(name.strip(), language.strip(), name.strip()) for name, _, language in pairs]
    return _espeak_voices(_print_line([program, "--voices"]))


def _espeak_voices(listed: str) -> list[Voice]:
    """Read rows of priority, language, age and gender, name, file, and others."""
    rows = [line.split() for line in listed.splitlines()]
    voices = [row for row in rows if len(row) > 4 and row[0].isdecimal()]
    # Those below mb/ need voices that are installed apart.
    included_voices = [row for row in voices if not row[4].startswith("mb/")]
    included_voices.sort(key=lambda row: int(row[0]))
    return [Voice(row[1], row[1], row[3]) for row in included_voices]


def _print_line(line: list[str]) -> str:
    try:
        completed = subprocess.run(
            line,
            env=clean_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolTimeout(f"The voices could not be listed within {TIMEOUT} s.") from error
    except OSError as error:
        raise ToolError(f"The voices cannot be listed: {error}.") from error
    return completed.stdout.decode("utf-8", "replace")


def synthesize_speech(text: str, voice: str, style: Style, file: Path, work: Work) -> None:
    """Write the text, spoken, to a WAV file. Raises ToolError."""
    program = voice_program()
    line, input_text = _speech_line(program, text.replace("\0", " "), voice, style, file)
    try:
        process = subprocess.Popen(
            line,
            env=clean_environment(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        raise ToolError(f"{Path(program).name} does not start: {error.strerror}.") from error
    try:
        complaint = _finish_process(process, input_text.encode("utf-8", "replace"), work)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    if process.returncode or not file.is_file() or file.stat().st_size <= SAMPLES_FROM:
        reason = one_line(complaint.decode("utf-8", "replace").strip())[:200] or "it made no sound"
        raise ToolError(f"{Path(program).name} could not speak: {reason}")


def _finish_process(process: "subprocess.Popen[bytes]", input_data: bytes, work: Work) -> bytes:
    """Return what it complained of."""
    unsent_data: bytes | None = input_data  # it is given once: whoever waits again only waits
    while True:
        work.go_on()
        with contextlib.suppress(subprocess.TimeoutExpired):
            try:
                return process.communicate(unsent_data, timeout=0.1)[1]
            finally:
                unsent_data = None


def _speech_line(
    program: str, text: str, voice: str, style: Style, file: Path
) -> tuple[list[str], str]:
    """The command, and what it is given to read."""
    name = Path(program).stem
    if name == "say":
        options = ["-v", voice] if voice else []
        line = [program, *options, "-r", str(style.speed), "-f", "-", "-o", str(file)]
        return [*line, "--file-format=WAVE", "--data-format=LEI16@22050"], text
    if name in ("powershell", "pwsh"):
        sapi_rate = max(-10, min(10, (style.speed - PLAIN.speed) // 10))
        settings = "\n".join([str(file), voice, str(sapi_rate), str(min(style.loudness, 100))])
        return [program, "-NoProfile", "-Command", SAPI_SPEAK], f"{settings}\n{text}"
    chosen = f"{voice or 'en'}+{style.variant}" if style.variant else voice
    options = ["-v", chosen] if chosen else []
    options += ["-s", str(style.speed), "-p", str(style.pitch), "-a", str(style.loudness)]
    # `-b 1`: the text is UTF-8, whatever the locale.
    return [program, *options, "-b", "1", "--stdin", "-w", str(file)], text


SAPI = (
    "Add-Type -AssemblyName System.Speech; "
    "$s = New-Object System.Speech.Synthesis.SpeechSynthesizer; "
)
SAPI_VOICES = (
    SAPI + "$s.GetInstalledVoices() | ForEach-Object { $_.VoiceInfo.Name + '|' + "
    "$_.VoiceInfo.Culture.Name }"
)
SAPI_SPEAK = (
    "[Console]::InputEncoding = [Text.Encoding]::UTF8; $i = [Console]::In; "
    + SAPI
    + "$f = $i.ReadLine(); $v = $i.ReadLine(); $s.Rate = [int]$i.ReadLine(); "
    "$s.Volume = [int]$i.ReadLine(); if ($v) { $s.SelectVoice($v) }; "
    "$s.SetOutputToWaveFile($f); $s.Speak($i.ReadToEnd()); $s.Dispose()"
)
"""Reads the file, the voice, the rate, the loudness and the text from its input."""
