"""A GGUF file of a model hub: resumed where it was cut, checked before it counts.

`HF_ENDPOINT` names another hub with the same addresses, `HF_TOKEN` opens what is not public.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from andy_cli.errors import AuthError, ModelError, TransientError, UsageError
from andy_cli.models.inside.weights import Progress, check_weights, make_room, sha256

ENDPOINT = "https://huggingface.co"
MAX_TRIES = 3
SHA256 = re.compile(r"[0-9a-f]{64}")


def fetch_from_hub(
    parts: Sequence[str],
    root: Path,
    progress: Progress,
    environment: Mapping[str, str] = os.environ,
) -> Path:
    """`parts` are owner, repository and the path of the file in it."""
    place = root.joinpath(*parts)
    make_room(place.parent, 0)
    try:
        with _part(place) as part:
            wanted = _persistent(parts, part, progress, environment)
            _keep(part, wanted, place)
    except OSError as error:
        raise ModelError(
            f"{place} cannot be written: {error.strerror}. "
            "Make room, or set XDG_DATA_HOME to another folder."
        ) from error
    return place


def _persistent(
    parts: Sequence[str], part: BinaryIO, progress: Progress, environment: Mapping[str, str]
) -> str:
    for left in reversed(range(MAX_TRIES)):
        try:
            return _download(parts, part, progress, environment)
        except TransientError:
            if not left:
                raise
    return ""


def _keep(part: BinaryIO, wanted: str, place: Path) -> None:
    """Move the finished file to its place if it is what the hub said it would be."""
    part.flush()
    path = Path(part.name)
    if wanted and sha256(path) != wanted:
        part.truncate(0)
        raise ModelError(f"{place.name} arrived damaged and was not kept. Try again.")
    try:
        check_weights(path)
    except UsageError as error:
        part.truncate(0)
        raise ModelError(f"{place.name} holds no GGUF weights. Choose another file.") from error
    if sys.platform == "win32":
        part.close()  # what is open cannot be moved there
    path.replace(place)


@contextmanager
def _part(place: Path) -> Iterator[BinaryIO]:
    """The unfinished file, for us alone; another process at the same file gets one of its own."""
    with place.with_name(place.name + ".part").open("ab") as part:
        if _lock(part):
            yield part
            return
    handle, name = tempfile.mkstemp(dir=place.parent, suffix=".part")
    os.close(handle)
    try:
        with Path(name).open("ab") as part:
            yield part
    finally:
        Path(name).unlink(missing_ok=True)


def _lock(file: BinaryIO) -> bool:
    """Lock the file until it is closed; tell whether it is ours."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _download(
    parts: Sequence[str], part: BinaryIO, progress: Progress, environment: Mapping[str, str]
) -> str:
    """Append what is missing; the SHA-256 the hub names, or nothing."""
    import httpx2  # 60 ms, and only who fetches needs it

    have = part.seek(0, os.SEEK_END)
    headers = {"Range": f"bytes={have}-"} if have else {}
    if token := environment.get("HF_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    try:
        with (
            httpx2.Client(follow_redirects=True, timeout=30) as client,
            client.stream("GET", _address(parts, environment), headers=headers) as response,
        ):
            _refuse(response.status_code, parts, part)
            if response.status_code != 206:
                part.truncate(0)
                have = 0
            total = have + int(response.headers.get("content-length") or 0)
            make_room(Path(part.name).parent, total - have)
            for block in response.iter_bytes():
                part.write(block)
                have += len(block)
                progress(have, max(total, have))
            names = [answer.headers for answer in (*response.history, response)]
    except httpx2.HTTPError as error:
        part.flush()
        raise TransientError(
            f"{parts[-1]} could not be fetched whole ({error}). "
            "Check the network and try again: it goes on where it stopped."
        ) from error
    if have < total:
        raise TransientError(f"{parts[-1]} was cut off at {have >> 20} MB. Try again: it goes on.")
    return _hash(names)


def _address(parts: Sequence[str], environment: Mapping[str, str]) -> str:
    owner, repository, *file = parts
    endpoint = environment.get("HF_ENDPOINT") or ENDPOINT
    return f"{endpoint.rstrip('/')}/{owner}/{repository}/resolve/main/{'/'.join(file)}"


def _refuse(status: int, parts: Sequence[str], part: BinaryIO) -> None:
    name = "/".join(parts)
    if status in {401, 403}:
        raise AuthError(
            f"{name} is not open to everybody. Set HF_TOKEN to a token that may read it."
        )
    if status == 404:
        raise ModelError(f"The hub has no file {name}. Check owner, repository and file name.")
    if status == 416:
        part.truncate(0)  # more is here than there: the file there is another one now
        raise TransientError(f"{name} has changed on the hub. Try again.")
    if status >= 500 or status == 429:
        raise TransientError(f"The hub answered {status} for {name}. Try again later.")
    if status >= 400:
        raise ModelError(f"The hub answered {status} for {name}. Check the name.")


def _hash(headers: Sequence[Mapping[str, str]]) -> str:
    """A redirect to the store carries the hash; a plain server may name it as its ETag."""
    for answer in headers:
        for name in ("x-linked-etag", "etag"):
            value = answer.get(name, "").removeprefix("W/").strip('"').lower()
            if SHA256.fullmatch(value):
                return value
    return ""
