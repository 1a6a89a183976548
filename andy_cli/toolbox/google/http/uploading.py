"""A file and what is said about it in one request: multipart/related, as Drive takes uploads."""

import json
import secrets
from collections.abc import Mapping

from andy_cli.toolbox.google.http.exchange import ApiCall, Query


def multipart_call(
    url: str, metadata: Mapping[str, object], media: tuple[str, bytes] | None, query: Query
) -> ApiCall:
    """`media` is a media type and content; without, what is said about the file is all there is."""
    described = json.dumps(metadata).encode()
    if media is None:
        plain = {name: value for name, value in query.items() if name != "uploadType"}
        return ApiCall("POST", url, plain, described)
    kind, content = media
    # Random, and twice as long as anything that could be met by chance in a text.
    boundary = secrets.token_hex(32)
    head = f"--{boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n"
    media_head = f"\r\n--{boundary}\r\nContent-Type: {kind}\r\n\r\n"
    closing = f"\r\n--{boundary}--\r\n"
    body = head.encode() + described + media_head.encode() + content + closing.encode()
    return ApiCall("POST", url, query, body, f"multipart/related; boundary={boundary}")
