"""Runs where vLLM is installed: reads replies with its own classes and our parsers, prints JSON.

`vllm_replies.py read` takes cases on stdin. Each is read whole and streamed through
`DelegatingParser`, as vLLM's server does it. `vllm_replies.py time` prints characters per second
of our parser and of vLLM's own.
"""

import json
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager
from vllm.plugins import load_general_plugins

PIECE = 4
"""Characters of a piece in the timed stream: what a token has in prose."""


class CharacterTokenizer:
    """A token a character, and one for each special token."""

    def __init__(self) -> None:
        special = """<think> </think> <tool_call> </tool_call> [TOOL_CALLS] [ARGS] <|python_tag|>
            <｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> <｜tool▁call▁begin｜> <｜tool▁call▁end｜>
            <｜tool▁sep｜>""".split()
        self._vocab = {token: 0x110000 + at for at, token in enumerate(special)}
        self._texts = {token: text for text, token in self._vocab.items()}

    def get_vocab(self) -> dict[str, int]:
        return self._vocab

    def encode(self, text: str) -> list[int]:
        found: list[int] = []
        while text:
            special = next((each for each in self._vocab if text.startswith(each)), "")
            found.append(self._vocab[special] if special else ord(text[0]))
            text = text[len(special) or 1 :]
        return found

    def decode(self, tokens: list[int]) -> str:
        return "".join(self._texts.get(token) or chr(token) for token in tokens)


TOKENIZER = CharacterTokenizer()


def parsers(case: dict[str, Any], name: str, reasoning: str | None = None) -> tuple[Any, Any]:
    """A parser as the server makes one for a request, and the request as it adjusted it."""
    made = ParserManager.get_parser(
        tool_parser_name=name, reasoning_parser_name=reasoning, enable_auto_tools=True
    )
    request = ChatCompletionRequest(
        model="m",
        messages=[{"role": "user", "content": "Hi"}],
        tools=case["tools"],
        tool_choice=case.get("tool_choice", "auto"),
    )
    parser = made(TOKENIZER, request.tools)
    return parser, parser.adjust_request(request)


def plain_calls(calls: Any) -> list[dict[str, str]]:  # noqa: ANN401
    return [{"name": each.name, "arguments": each.arguments} for each in calls or []]


def read_whole(case: dict[str, Any], name: str, reasoning: str | None) -> dict[str, object]:
    parser, request = parsers(case, name, reasoning)
    parser.set_prompt_token_ids(TOKENIZER.encode(case.get("prompt", "Hi")))
    thought, content, calls = parser.parse(case["reply"], request, enable_auto_tools=True)
    return {"reasoning": thought or "", "content": content or "", "calls": plain_calls(calls)}


def read_streamed(
    case: dict[str, Any], name: str, reasoning: str | None, size: int
) -> dict[str, object]:
    parser, request = parsers(case, name, reasoning)
    total: dict[str, Any] = {"reasoning": "", "content": "", "calls": []}
    prompt = TOKENIZER.encode(case.get("prompt", "Hi"))
    ids: set[str] = set()
    for tokens, last in pieces(TOKENIZER.encode(case["reply"]), size):
        text = TOKENIZER.decode(tokens)
        delta = parser.parse_delta(text, tokens, request, prompt, finished=last)
        if delta is None:
            continue
        total["reasoning"] += delta.reasoning or ""
        total["content"] += delta.content or ""
        for call in delta.tool_calls:
            if call.id:
                assert call.index == len(total["calls"])
                assert call.type == "function"
                assert call.id not in ids
                ids.add(call.id)
                total["calls"].append({"name": call.function.name, "arguments": ""})
            total["calls"][call.index]["arguments"] += call.function.arguments or ""
    return total


def pieces(tokens: list[int], size: int) -> Iterator[tuple[list[int], bool]]:
    for at in range(0, len(tokens), size):
        yield tokens[at : at + size], at + size >= len(tokens)


def read(cases: list[dict[str, Any]]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for case in cases:
        name, reasoning = case.get("parser", "andy"), case.get("reasoning")
        streams = [read_streamed(case, name, reasoning, size) for size in (1, 2, 7, 10_000)]
        _, request = parsers(case, name, reasoning)
        whole = read_whole(case, name, reasoning)
        found.append({"whole": whole, "streamed": streams, "skips": request.skip_special_tokens})
    return found


def reach(prompt: str) -> dict[str, object]:
    """What the server asks of a reasoning parser beside the split."""
    from vllm.reasoning import ReasoningParserManager

    parser = ReasoningParserManager.get_reasoning_parser("andy")(TOKENIZER)
    tokens = TOKENIZER.encode(prompt)
    content = TOKENIZER.decode(parser.extract_content_ids(tokens))
    request = parser.adjust_request(SimpleNamespace(skip_special_tokens=True))
    return {
        "ended": parser.is_reasoning_end(tokens),
        "content": content,
        "skips": request.skip_special_tokens,
    }


def characters_per_second(case: dict[str, Any], name: str) -> float:
    parser, request = parsers(case, name)
    stream = [
        (TOKENIZER.decode(each), each, last)
        for each, last in pieces(TOKENIZER.encode(case["reply"]), PIECE)
    ]
    start = time.perf_counter()
    for text, tokens, last in stream:
        parser.parse_delta(text, tokens, request, [], finished=last)
    return len(case["reply"]) / (time.perf_counter() - start)


def main() -> None:
    load_general_plugins()
    asked = json.load(sys.stdin)
    if sys.argv[1] == "read":
        sys.stdout.write(json.dumps(read(asked)))
    elif sys.argv[1] == "reach":
        sys.stdout.write(json.dumps([reach(each) for each in asked]))
    else:
        rates = {}
        for name in ("andy", asked["parser"]):
            rates[name] = max(characters_per_second(asked, name) for _ in range(3))
        sys.stdout.write(json.dumps(rates))


if __name__ == "__main__":
    main()
