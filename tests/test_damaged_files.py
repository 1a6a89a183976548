"""Whatever bytes a reader meets, it gives a value or says in one of our errors what is wrong.

No other exception: it would be a traceback for the user, or the end of a conversation.
"""

import asyncio
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from andy_cli import settings as user_settings
from andy_cli.agent.grounding.evidence import find_tables, parse_result
from andy_cli.agent.history.compression import is_error, make_stub, truncate_result
from andy_cli.errors import AndyError, ToolError
from andy_cli.frontends.management import tools_command
from andy_cli.frontends.replaying import capture_reader, replay_command
from andy_cli.frontends.serve.wires import chat_request, messages, responses_request
from andy_cli.frontends.serve.wires.answer_parts import ApiError
from andy_cli.frontends.serve.wires.field_checks import parse_json_body
from andy_cli.guard import archives
from andy_cli.messages import Message
from andy_cli.models import discovery, memory
from andy_cli.models.client import Endpoint
from andy_cli.models.http.wire import WireReader
from andy_cli.models.inside.planning.replies import conclusion
from andy_cli.models.inside.values import entries
from andy_cli.models.server import facts
from andy_cli.sessions import log
from andy_cli.toolbox.documents import charsets, html, index, text
from andy_cli.toolbox.documents.formats import docx, epub, mail, opendocument, pdf, pptx, rtf, xlsx
from andy_cli.toolbox.files import encodings
from andy_cli.toolbox.files.history import kept_batches
from andy_cli.toolbox.files.search import ignoring
from andy_cli.toolbox.google.contents import cells
from andy_cli.toolbox.google.login import consent, vault
from andy_cli.toolbox.mcp import login, phrases, results, servers
from andy_cli.toolbox.mcp import tools as mcp_tools
from andy_cli.toolbox.mcp.long_lines import LineDecoder
from andy_cli.toolbox.music import songs
from tests import office_files
from tests.cases import loop_over, quick_every, sample_every
from tests.damaged_bytes import NASTY, as_bytes, foreign_bytes, foreign_json
from tests.failing_disk import IN_MEMORY

HERE = Endpoint("openai", "m", "http://127.0.0.1:9/v1")
CLEAR = (AndyError, ToolError, ApiError)
ROOT = Path(__file__).parents[1]


class Reader(NamedTuple):
    read: Callable[[Path], object]
    """Reads the file; all of it, if it gives an iterator."""
    example: bytes
    tree: object = None
    """The example as JSON, where it is some."""
    name: str = "file"
    """Of the file, as the reader wants it."""


def of_bytes(read: Callable[[bytes], object]) -> Callable[[Path], object]:
    """A reader that is given what the file holds."""
    return lambda path: read(path.read_bytes())


def of_text(read: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: read(path.read_bytes().decode("utf-8", "replace"))


def of_stream(read: Callable[[io.BytesIO], object]) -> Callable[[Path], object]:
    return lambda path: read(io.BytesIO(path.read_bytes()))


def json_or_none(data: bytes) -> object:
    """Read by the JSON of somebody else's library."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def of_json(read: Callable[[object], object]) -> Callable[[Path], object]:
    return of_bytes(lambda data: read(json_or_none(data)))


# Our own files.


def session_lines() -> bytes:
    user = {"seq": 1, "type": "message", "role": "user", "content": "hi"}
    call = {"id": "c1", "name": "now", "arguments": {"zone": "UTC"}}
    said = {"seq": 2, "type": "message", "role": "assistant", "content": "", "calls": [call]}
    began = {"seq": 3, "type": "start", "call_id": "c1", "name": "now", "arguments": {}}
    return b"".join(log.encode_record(record) for record in (user, said, began))


def go_on_with_session(path: Path) -> None:
    session = log.Log(path.parent, path.stem)
    before = [*log.read(path)]
    session.message(Message("user", "again"))
    assert session.is_kept
    session.close()
    assert [*log.read(path)] == [*before, Message("user", "again")]


def read_session(path: Path) -> object:
    go_on_with_session(path)
    return [*log.read(path)]


CAPTURE = {
    "request": {"kind": "request", "n": 1, "t": 0.0, "body": {"messages": [], "tools": []}},
    "chunk": {"kind": "chunk", "n": 1, "t": 0.2, "text": 'data: {"choices": []}\n\n'},
    "said": {"kind": "chunk", "n": 1, "chunk": {"text": "hi", "reasoning": "", "finish": "stop"}},
    "b64": {"kind": "chunk", "n": 1, "b64": "/w=="},
    "outcome": {"kind": "outcome", "n": 1, "calls": [], "content": "", "tools": []},
    "end": {"kind": "end", "n": 1, "t": 0.5},
}


def capture_of(tree: object) -> bytes:
    found = tree.values() if isinstance(tree, dict) else [tree]
    return b"\n".join(json.dumps(record).encode() for record in found)


def read_capture(path: Path) -> object:
    """A capture, or the records of one in an object, as `foreign_json` makes them."""
    tree = json_or_none(path.read_bytes())
    if isinstance(tree, dict) and "kind" not in tree:
        path.write_bytes(capture_of(tree))
    return [
        [*replay_command.describe_replay(replay_command.compile_again(each))]
        for each in capture_reader.read_capture(path).requests
    ]


SETTINGS = b"""
model = "m"
max_tokens = 5
[network]
idle_timeout = 1.5
scan = false
[guard]
allow = ["Bash(ls)", "Read"]
[custom.shout]
command = "echo {text}"
"""


def load_settings(path: Path) -> object:
    environment = {"ANDY_CONFIG_DIR": str(path.parent)}
    loaded = user_settings.load(environment=environment)
    return [loaded[setting.key] for setting in user_settings.SETTINGS if "*" not in setting.key]


def save_setting(path: Path) -> object:
    with variable("ANDY_CONFIG_DIR", str(path.parent)):
        return user_settings.save("guard.mode", "plan")


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, value)
        yield


def in_state(read: Callable[[], object]) -> Callable[[Path], object]:
    """A reader that finds its file in the state folder by itself."""

    def reads(path: Path) -> object:
        with variable("XDG_STATE_HOME", str(path.parent)):
            (path.parent / "andy").mkdir(exist_ok=True)
            path.rename(path.parent / "andy" / path.name)
            return read()

    return reads


def in_config(read: Callable[[], object]) -> Callable[[Path], object]:
    def reads(path: Path) -> object:
        with variable("ANDY_CONFIG_DIR", str(path.parent)):
            return read()

    return reads


MEMORY = {"models": [{"endpoint": HERE.base_url, "model": "m", "native": False, "right": 7}]}
LISTED_SERVERS = {
    "mcpServers": {
        "time": {"command": "x", "args": ["-a"], "env": {"A": "${B:-c}"}, "timeout": 30},
        "far": {"url": "http://127.0.0.1:9/mcp", "headers": {"a": "b"}, "effect": "read"},
        "off": {"command": "x", "disabled": True, "includeTools": ["a*"]},
    }
}
TOKENS = {
    "tokens": {"access_token": "a", "token_type": "Bearer", "expires_in": 60},
    "until": 12.5,
    "client": {"client_id": "c", "redirect_uris": ["http://127.0.0.1/back"]},
}
GOOGLE = {
    "email": "a@example.org",
    "client_id": "c",
    "scopes": ["s"],
    "kept": "file",
    "secrets": {"refresh_token": "r", "access_token": "a", "expires": 5.5},
}
CLIENT = {"installed": {"client_id": "c", "client_secret": "s"}}


def read_servers(path: Path) -> object:
    return [*servers.read(path, {}, is_own=True)]


def keep_server(path: Path) -> None:
    servers.keep("new", {"command": "x"}, path)
    assert "new" in servers.read_entries(path)


def read_tokens(path: Path) -> object:
    kept = login.Tokens(path)
    return asyncio.run(kept.get_tokens()), asyncio.run(kept.get_client_info())


# What servers and clients say.

ASKED = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "fine"},
    ],
    "tools": [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}],
    "tool_choice": {"type": "function", "function": {"name": "t"}},
    "stream": True,
    "temperature": 0.5,
}
MESSAGES = {
    "model": "m",
    "max_tokens": 5,
    "system": [{"type": "text", "text": "s"}],
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "f"}]},
    ],
    "tools": [{"name": "t", "description": "d", "input_schema": {"type": "object"}}],
    "tool_choice": {"type": "tool", "name": "t"},
}
RESPONSES = {
    "model": "m",
    "instructions": "s",
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c", "name": "t", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "fine"},
    ],
    "tools": [{"type": "function", "name": "t", "parameters": {"type": "object"}}],
}
EVENT = {
    "id": "c",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": "hi",
                "reasoning": "r",
                "tool_calls": [
                    {"index": 0, "id": "c", "function": {"name": "t", "arguments": "{}"}}
                ],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    "error": {"message": "m", "code": 429},
}
LISTED = {"data": [{"id": "m", "owned_by": "vllm", "max_model_len": 5}], "models": [{"name": "m"}]}
OLLAMA = {"model_info": {"a.context_length": 5}, "parameters": "num_ctx 5", "capabilities": ["t"]}
OFFERED = {
    "type": "object",
    "title": "t",
    "properties": {"query": {"type": "string", "enum": ["a"]}, "n": {"type": ["integer", "null"]}},
    "required": ["query"],
}


def read_reply(data: bytes) -> object:
    reader = WireReader()
    chunks = [chunk for at in range(0, len(data), 7) for chunk in reader.feed(data[at : at + 7])]
    return [*chunks, *reader.finish()]


def read_event(data: bytes) -> object:
    return read_reply(b"data: " + data + b"\n\ndata: [DONE]\n\n")


def read_offer(value: object) -> object:
    if not mcp_tools.is_usable_schema(value) or not isinstance(value, dict):
        return None
    offered = servers.ServerTool("find_things", "about", value)
    described = phrases.describe_step(offered.name, "Find", value, "s")
    return described, mcp_tools.plain_schema(value), mcp_tools.describe_tool(offered)


class Block:
    def __init__(self, fields: Mapping[str, object]) -> None:
        vars(self).update(fields)


def read_result(value: object) -> object:
    fields = value if isinstance(value, dict) else {"type": value}
    return results.result_content([Block({str(key): fields[key] for key in fields})], None)


def decode_lines(data: bytes) -> object:
    decoder = LineDecoder("replace")
    return [decoder.decode(data[at : at + 5]) for at in range(0, len(data), 5)]


def all_facts(value: object) -> object:
    sources = (
        facts.OLLAMA,
        facts.LOADED,
        facts.LLAMACPP,
        facts.LISTED,
    )
    return [source.read(value, "m") for source in sources if isinstance(value, dict)]


# What tools read and return.

FOUND = {"files": [{"name": "a.mp3", "size": 5, "tags": ["x"]}], "count": 1, "error": "none"}


def read_tool_result(content: str) -> object:
    tables = find_tables(parse_result(content), content)
    kept = (is_error(content), make_stub(content), truncate_result(content, 50))
    told = (
        conclusion.drop_advice(content),
        conclusion.conclude(conclusion.ToldResult(content, "looked")),
    )
    return tables, kept, entries.find_entries(content), told


def open_index(path: Path) -> object:
    with index.open_index(path) as opened:
        return opened.folders()


def music() -> bytes:
    return (ROOT / "tests" / "music" / "01 - Morning Light.mp3").read_bytes()[:4_000]


def a_book() -> bytes:
    return office_files.make_epub({"a": "b"})


JOURNAL = """{"workspace": "/a", "time": 1.5}
{"kind": "Copied", "place": {"path": "/a/b", "root": "/a"}, "stamps": [{"stamp": ["", 1, 2.5]}]}
{"did": "copied b"}
"""

READERS = {
    "session": Reader(read_session, session_lines(), name="s.jsonl"),
    "capture": Reader(read_capture, capture_of(CAPTURE), CAPTURE, name="c.jsonl"),
    "settings": Reader(load_settings, SETTINGS, name="config.toml"),
    "settings, to change them": Reader(save_setting, SETTINGS, name="config.toml"),
    "models.json": Reader(
        in_state(lambda: memory.recall_model(HERE)),
        json.dumps(MEMORY).encode(),
        MEMORY,
        "models.json",
    ),
    "mcp.json": Reader(read_servers, json.dumps(LISTED_SERVERS).encode(), LISTED_SERVERS),
    "mcp.json, to change it": Reader(
        keep_server, json.dumps(LISTED_SERVERS).encode(), LISTED_SERVERS
    ),
    "login at an MCP server": Reader(read_tokens, json.dumps(TOKENS).encode(), TOKENS),
    "login at Google": Reader(
        in_config(vault.connected_account), json.dumps(GOOGLE).encode(), GOOGLE, "google.json"
    ),
    "secrets of Google": Reader(
        in_config(vault.load_secrets), json.dumps(GOOGLE).encode(), GOOGLE, "google.json"
    ),
    "client of Google": Reader(consent.client_in, json.dumps(CLIENT).encode(), CLIENT),
    "arguments as typed": Reader(
        of_text(lambda written: tools_command.parse_arguments([written])), b'{"a": 1}', {"a": 1}
    ),
    "reply": Reader(of_bytes(read_reply), b'data: {"choices": []}\n\n', EVENT),
    "event of a reply": Reader(of_bytes(read_event), json.dumps(EVENT).encode(), EVENT),
    "chat request": Reader(
        of_bytes(lambda data: chat_request.read_chat_request(parse_json_body(data))),
        json.dumps(ASKED).encode(),
        ASKED,
    ),
    "messages request": Reader(
        of_bytes(lambda data: messages.read_messages_request(parse_json_body(data))),
        json.dumps(MESSAGES).encode(),
        MESSAGES,
    ),
    "responses request": Reader(
        of_bytes(lambda data: responses_request.read_responses_request(parse_json_body(data))),
        json.dumps(RESPONSES).encode(),
        RESPONSES,
    ),
    "list of models": Reader(
        of_bytes(
            lambda data: discovery.parse_answer("ollama", "u", b"HTTP/1.0 200 OK\r\n\r\n" + data)
        ),
        json.dumps(LISTED).encode(),
        LISTED,
    ),
    "facts of a server": Reader(of_json(all_facts), json.dumps(OLLAMA).encode(), OLLAMA | LISTED),
    "offer of an MCP server": Reader(of_json(read_offer), json.dumps(OFFERED).encode(), OFFERED),
    "result of an MCP server": Reader(of_json(read_result), b'{"type": "text"}', {"type": "image"}),
    "lines of an MCP server": Reader(of_bytes(decode_lines), b'{"a": "\xc3\xa9"}\n'),
    "result of a tool": Reader(of_text(read_tool_result), json.dumps(FOUND).encode(), FOUND),
    "cells": Reader(of_text(cells.rows_of), b'[["a", 1]]', [["a", 1]]),
    "index of documents": Reader(open_index, b"SQLite format 3\x00" + bytes(100), name="i.db"),
    "word file": Reader(of_stream(docx.read_parts), office_files.make_docx(["a"])),
    "excel file": Reader(
        of_stream(lambda file: [*xlsx.read_sheets(file, lambda: None)]),
        office_files.make_xlsx({"a": [["b", 1.5]]}),
    ),
    "slides": Reader(
        of_stream(lambda file: [*pptx.read_slides(file)]),
        office_files.make_pptx([("a", "b", "c")]),
    ),
    "open document": Reader(of_stream(opendocument.read_parts), office_files.make_odp(["a"])),
    "book": Reader(of_stream(lambda file: [*epub.read_chapters(file)]), a_book()),
    "mail": Reader(of_bytes(mail.read_message), office_files.make_mail("a", "<p>a</p>")),
    "rich text": Reader(of_bytes(rtf.read_rich_text), b"{\\rtf1\\ansi caf\\'e9 \\u8364?\\par}"),
    "journal of changes": Reader(
        kept_batches.load_batch, JOURNAL.encode(), json.loads(JOURNAL.splitlines()[1])
    ),
    "pdf file": Reader(
        of_stream(lambda file: [*pdf.pdf_pages(file)]), b"%PDF-1.4\n1 0 obj\n<<>>\n"
    ),
    "any document": Reader(of_stream(lambda file: [*text.text_of(file, "a.txt")]), b"<html>a"),
    "charset": Reader(of_bytes(charsets.decode_text), b'<meta charset="utf-8">'),
    "page": Reader(of_text(html.plain_text), b"<p>a<script>b</script><!-- c"),
    "encoding": Reader(of_bytes(encodings.decode_file), b"\xff\xfea\x00"),
    "ignore file": Reader(
        of_text(lambda rules: [*ignoring.parse_ignore_rules(rules)]), b"*.py\n!a/**/[b-c]\n"
    ),
    "song": Reader(songs.read_song, music(), name="a.mp3"),
    "archive": Reader(archives.list_members, b"PK\x05\x06" + bytes(18), name="a.zip"),
}
NO_REAL_EXAMPLE = {"index of documents", "pdf file"}


def read_or_explain(reader: Reader, content: bytes) -> str:
    """Read a file that holds this; returns the error in words, or nothing."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        path = Path(folder) / reader.name
        path.write_bytes(content)
        try:
            found = reader.read(path)
            if isinstance(found, Iterator):
                list(found)
        except CLEAR as error:
            return str(error) or "an error without words"
    return ""


@pytest.mark.parametrize("name", quick_every(20, READERS))
@settings(suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes_give_a_value_or_a_clear_error(name: str, data: st.DataObject) -> None:
    reader = READERS[name]
    content = data.draw(foreign_bytes(reader.example, reader.tree))
    assert read_or_explain(reader, content) != "an error without words"


@loop_over("name", READERS)
def test_what_broke_readers_before_gives_a_value_or_a_clear_error(name: str) -> None:
    said = {text: read_or_explain(READERS[name], as_bytes(text)) for text in sample_every(3, NASTY)}
    assert "an error without words" not in said.values()


@loop_over("name", [name for name in READERS if name not in NO_REAL_EXAMPLE])
def test_the_example_that_others_are_made_from_is_read(name: str) -> None:
    assert not read_or_explain(READERS[name], READERS[name].example)


@given(tree=foreign_json(CAPTURE))
def test_records_of_a_session_come_back_as_they_were(tree: object) -> None:
    record = {"content": tree}
    decoded = log.decode_record(log.encode_record(record)[:-1])
    assert decoded is not None
    assert repr(decoded["content"]) == repr(json.loads(json.dumps(tree)))
