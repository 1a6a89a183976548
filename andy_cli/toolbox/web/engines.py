"""The search engine that is set up: a SearXNG server of the user's, Brave or Tavily with a key, or
without any of them ddgs, which reads the pages of search engines.
"""

import importlib.util
import os

from andy_cli.toolbox.runtime_context import current_context

ENGINE_NAMES = ("searxng", "brave", "tavily", "duckduckgo")
KEY_VARIABLES = {"brave": "BRAVE_API_KEY", "tavily": "TAVILY_API_KEY"}
NONE = (
    "Web search is not set up. Set search.url to a SearXNG server, or BRAVE_API_KEY or "
    "TAVILY_API_KEY to a key, or install ddgs: pip install 'andy-cli[web]'"
)
SOURCES = "duckduckgo, mojeek, brave"
"""Engines that ddgs asks; no more, as each of them learns the query."""

DUCKDUCKGO = "https://html.duckduckgo.com/html/"


def chosen_engine() -> str:
    """Return which of `ENGINE_NAMES` is used: that of `search.engine`, or the first that is set up;
    or nothing."""
    settings = current_context().settings
    chosen = settings.text("search.engine")
    if chosen in ENGINE_NAMES:
        return chosen
    if settings.text("search.url"):
        return "searxng"
    for name in ("brave", "tavily"):
        if os.environ.get(KEY_VARIABLES[name]):
            return name
    return "duckduckgo" if importlib.util.find_spec("ddgs") else ""


def missing_engine() -> str:
    """Say what is missing before the web can be searched, or nothing."""
    settings = current_context().settings
    name = chosen_engine()
    if name == "searxng" and not settings.text("search.url"):
        return "The address of the SearXNG server is missing: set search.url to it."
    if name in KEY_VARIABLES and not os.environ.get(KEY_VARIABLES[name]):
        return f"The key of the search engine is missing: set {KEY_VARIABLES[name]} to it."
    if name == "duckduckgo" and not importlib.util.find_spec("ddgs"):
        return "Searching with DuckDuckGo needs ddgs: pip install 'andy-cli[web]'"
    return "" if name else NONE


def engine_address() -> tuple[str, bool]:
    """Return where the query goes, and whether that is a server of the user's settings."""
    name = chosen_engine()
    if name == "duckduckgo" or not name:
        return DUCKDUCKGO, False
    key = "search.url" if name == "searxng" else f"search.{name}_url"
    setting = current_context().settings[key]
    return str(setting.value), setting.origin != "default"
