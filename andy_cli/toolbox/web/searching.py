"""Ask a search engine.

Sources: docs.searxng.org/dev/search_api.html, api-dashboard.search.brave.com/documentation,
docs.tavily.com/documentation/api-reference/endpoint/search.
"""

import json
import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from andy_cli.errors import ToolError, ToolTimeout
from andy_cli.toolbox.documents.html import plain_text
from andy_cli.toolbox.runtime_context import run_at_most
from andy_cli.toolbox.web.client import FetchedAnswer, WebRequest, fetch_answer
from andy_cli.toolbox.web.engines import KEY_VARIABLES, SOURCES, chosen_engine, engine_address
from andy_cli.toolbox.web.failures import show_text
from andy_cli.toolbox.web.limits import host_of, page_limits
from andy_cli.toolbox.web.reading import media_type

MAX_RESULTS = 20
TIMEOUT = 25.0
"""Seconds for ddgs, which asks one engine after another."""

BRAVE_LONGEST = 400
"""Characters of a query that Brave takes."""

CHARACTERS = 4
"""Of a token, roughly."""


class SearchResult(NamedTuple):
    title: str
    url: str
    snippet: str


async def search_web(query: str, most_tokens: int) -> list[SearchResult]:
    """Return what the engine found, best first, as much as fits into so many tokens.

    Raises ToolError, in words, for a refusal, a limit, or an answer that is none.
    """
    name = chosen_engine()
    if name == "duckduckgo":
        results = await _scrape_engine(query)
    else:
        answer = await _ask_engine(name, query)
        results = list(_read_results(name, answer))
    return _fitting_results(results, most_tokens * CHARACTERS)


async def _ask_engine(name: str, query: str) -> object:
    engine_url, is_own = engine_address()
    trusted = {host_of(engine_url)} if is_own else frozenset[str]()
    key = os.environ.get(KEY_VARIABLES.get(name, ""), "")
    return _parse_json(
        await fetch_answer(
            _engine_request(name, engine_url.rstrip("/"), query, key), page_limits(), trusted
        ),
        name,
    )


def _engine_request(name: str, engine_url: str, query: str, key: str) -> WebRequest:
    if name == "searxng":
        return WebRequest(f"{engine_url}/search?{urlencode({'q': query, 'format': 'json'})}")
    if name == "brave":
        query_string = urlencode({"q": query[:BRAVE_LONGEST], "count": MAX_RESULTS})
        headers = {"accept": "application/json", "x-subscription-token": key}
        return WebRequest(f"{engine_url}/res/v1/web/search?{query_string}", headers=headers)
    body = json.dumps({"query": query, "max_results": MAX_RESULTS}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    return WebRequest(f"{engine_url}/search", "POST", headers, body)


def _parse_json(answer: FetchedAnswer, name: str) -> object:
    if answer.status in (401, 403, 422) and name in KEY_VARIABLES:
        raise ToolError(
            f"The search engine does not accept the key in {KEY_VARIABLES[name]}. Check it."
        )
    if answer.status == 403 and name == "searxng":
        raise ToolError(
            "The SearXNG server gives no JSON: add json to search.formats in its settings.yml."
        )
    if answer.status in (402, 429, 432, 433):
        retry_after = show_text(answer.headers.get("retry-after", ""))
        retry_time = f" in {retry_after} s" if retry_after.isdecimal() else " later"
        raise ToolError(f"The search engine's limit of requests is reached. Try again{retry_time}.")
    if answer.status != 200:
        raise ToolError(f"The search engine answered {answer.status}. Try again later.")
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        content_kind = "a web page" if "html" in media_type(answer) else "something else"
        raise ToolError(
            f"The search engine answered with {content_kind} instead of JSON. Check its address."
        ) from error


def _list_results(name: str, answer: object) -> list[object]:
    is_brave = name == "brave" and isinstance(answer, Mapping)
    section = answer.get("web") if name == "brave" and isinstance(answer, Mapping) else answer
    results = section.get("results") if isinstance(section, Mapping) else None
    if is_brave and results is None:
        return []  # it names no section that is empty
    if not isinstance(results, list):
        raise ToolError("The search engine's answer holds no results. Check its address.")
    return results


def _read_results(name: str, answer: object) -> Iterable[SearchResult]:
    for item in _list_results(name, answer):
        if isinstance(item, Mapping) and isinstance(item.get("url"), str):
            yield _read_result(item, item["url"], "description" if name == "brave" else "content")


def _read_result(result_record: Mapping[str, object], url: str, field: str) -> SearchResult:
    """A result; engines mark words with tags."""
    title, snippet = result_record.get("title") or "", result_record.get(field) or ""
    return SearchResult(_one_line(str(title)), url, _one_line(str(snippet)))


def _one_line(text: str) -> str:
    return " ".join(plain_text(text)[1].split())


async def _scrape_engine(query: str) -> list[SearchResult]:
    try:
        from ddgs import DDGS  # an extra
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
    except ImportError as error:
        raise ToolError(
            "Searching without a key needs ddgs: pip install 'andy-cli[web]'"
        ) from error

    def ask() -> list[dict[str, object]]:
        return list(DDGS(timeout=8).text(query, max_results=MAX_RESULTS, backend=SOURCES))

    try:
        result_records = await run_at_most(TIMEOUT, ask)
    except (TimeoutError, TimeoutException) as error:
        raise ToolTimeout("The search engines took too long. Try again later.") from error
    except RatelimitException as error:
        raise ToolError("The search engines' limit is reached. Try again later.") from error
    except DDGSException as error:
        if "No results found" in str(error):
            return []
        raise ToolError(
            "No search engine could be reached. Check the network, or set up a search engine of "
            "your own: search.url, BRAVE_API_KEY or TAVILY_API_KEY."
        ) from error
    parsed_results = (
        _read_result(item, str(item.get("href") or ""), "body") for item in result_records
    )
    return [parsed_result for parsed_result in parsed_results if parsed_result.url]


def _fitting_results(results: Iterable[SearchResult], characters: int) -> list[SearchResult]:
    """The first results that fit; the first of all in any case, shortened if it must be."""
    fitting: list[SearchResult] = []
    for item in results:
        title, url = item.title[:200], item.url
        left = characters - len(title) - len(url) - 40  # for the names around them
        if left <= 0 and fitting:
            break
        snippet = item.snippet if len(item.snippet) <= left else item.snippet[: max(left, 0)]
        fitting.append(SearchResult(title, url, snippet))
        characters = left - len(snippet)
    return fitting
