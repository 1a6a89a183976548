"""llama.cpp in this process: weights are loaded, prompts go in, tokens come out. All of it blocks.

The engine always listens on a port of its own on loopback; a random key keeps other users of the
machine out. `handle_*` of the library answers dicts in OpenAI's form, errors among them.
"""

import json
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from andy_cli.errors import BadRequestError, ContextLengthError, ModelError, UsageError

CONTEXT = 4096
"""Tokens. The cache for them takes 90 MB with the smallest model."""

SLOTS = 8
"""Prompts that are worked on at the same time."""


class NativeServer(Protocol):
    """The part of the library's server that we use. Its answers are parsed JSON."""

    listening_address: str

    def handle_chat_completions(
        self, prompt: Mapping[str, Any], callback: Callable[[Mapping[str, Any]], bool]
    ) -> object: ...


class Engine:
    """One loaded model. Requests from several threads wait for each other."""

    def __init__(self, weights: Path) -> None:
        self._key = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._server = _load(weights, self._key)

    @property
    def address(self) -> str:
        """The address at which the OpenAI chat API answers, without `/v1`."""
        return self._server.listening_address

    @property
    def key(self) -> str:
        return self._key

    def chat(self, body: Mapping[str, Any], on_chunk: Callable[[Mapping[str, Any]], bool]) -> None:
        """Complete a chat, streamed; `on_chunk` is told every chunk and returns True to stop."""
        failures: list[ModelError] = []

        def receive(chunk: Mapping[str, Any]) -> bool:
            try:
                return on_chunk(_raise_failure(chunk))
            except ModelError as error:
                failures.append(error)
                return True

        with self._lock:
            try:
                self._server.handle_chat_completions({**body, "stream": True}, receive)
            except ValueError as error:
                # The library's word for schemas and messages that it cannot read.
                raise BadRequestError(f"The local model refused the request: {error}.") from error
        if failures:
            raise failures[0]

    def tokens(self, text: str) -> tuple[int, ...]:
        """The tokens of a piece of text, nothing added."""
        import urllib.request  # only tokens are not to be had without the socket

        request = urllib.request.Request(
            f"{self.address}/tokenize",
            json.dumps({"content": text, "add_special": False}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        # Not through a proxy: it is this very process.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                found = json.load(answer)
        except OSError as error:
            raise ModelError(
                f"The local model does not answer at {self.address}: {error}.",
                "It needs the loopback network (127.0.0.1); or choose another model with {model}.",
            ) from error
        return tuple(found["tokens"])


def _load(weights: Path, key: str) -> NativeServer:
    try:
        import xllamacpp  # 33 MB of native code, and only this model needs it
    except ImportError as error:
        raise UsageError(
            "Local models need one more package. Run `pip install 'andy-cli[local]'`."
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {weights.stem}
    params.n_ctx = CONTEXT
    params.n_parallel = SLOTS
    params.kv_unified = True  # each prompt may take the whole context
    params.cache_ram_mib = 0
    params.port = 0
    params.hostnames = ["127.0.0.1"]
    params.api_keys = [key]
    params.ui = False
    params.verbosity = -1
    params.warmup = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    try:
        server: NativeServer = xllamacpp.Server(params)
        return server
    except RuntimeError as error:
        raise ModelError(
            f"{weights} cannot be loaded. Remove it and fetch it again with `andy models pull`, "
            "or choose another file.",
            str(error),
        ) from error


def _threads() -> int:
    """Half of the processors we may use, eight at most.

    The threads wait for each other after every step: when another program takes one of their
    processors, all stand still, and a reply takes thirty times as long.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min((usable or 1) // 2, 8))


def _raise_failure(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    if error := answer.get("error"):
        raise _explain(error)
    return answer


def _explain(error: Mapping[str, Any]) -> ModelError:
    if error.get("type") == "exceed_context_size_error":
        return ContextLengthError(
            f"The messages are {error.get('n_prompt_tokens')} tokens long, and the context of this "
            f"model holds {error.get('n_ctx')}. Send less."
        )
    said = f"The local model refused the request: {error.get('message', error)}."
    return BadRequestError(said) if error.get("code") == 400 else ModelError(said)
