"""Makes Markdown of a page and text of a PDF, in a process of its own: `python -m` this module.

In: a line of JSON with `kind` (page or pdf) and `url`, then the file. Out: JSON with `title` and
`text`, or with `error`. What others wrote is taken apart by much code of others here; whatever that
does, it ends with this process, which has no keys, no more memory and no more time than it needs.
"""

import json
import re
import sys
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from urllib.parse import urljoin

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.formats import pdf
from andy_cli.toolbox.documents.html import UNSEEN, plain_text

CPU_SECONDS, MEMORY = 20, 2 << 30
MAX_CHARACTERS = 4_000_000
"""Characters."""

MIN_CHARACTERS = 400
"""Of fewer characters, or of a fifth of all there are, a text may be what an extractor left over of
a page that is no article."""

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
AROUND = ("nav", "header", "footer", "aside", "form", "button", "dialog")


def page_to_markdown(page: str, url: str) -> tuple[str, str]:
    """Title and readable part of a page."""
    title, plain = plain_text(page)
    text = _extract_article(page, url)
    if len(text) < max(MIN_CHARACTERS, len(plain) // 5):
        text = max(text, _main_part(page, url), key=len)
    return title, text or plain


def _extract_article(page: str, url: str) -> str:
    """Return what trafilatura takes for the article, if it is there."""
    try:
        import trafilatura
    except ImportError:
        return ""
    try:
        article = trafilatura.extract(
            page, url=url, output_format="markdown", include_links=True, include_comments=False
        )
    except (SyntaxError, *FAULTS):
        return ""
    return article or ""


def _main_part(page: str, url: str) -> str:
    """The page without what stands around it."""
    from bs4 import BeautifulSoup
    from markdownify import markdownify

    try:
        # The parser of the standard library takes an end tag that is left out for a nesting.
        parser = "lxml" if find_spec("lxml") else "html.parser"
        parsed_page = BeautifulSoup(page, parser)
        for element in parsed_page.find_all(["title", *UNSEEN, *AROUND]):
            # An article has a header and a footer of its own.
            if element.name not in ("header", "footer") or not element.find_parent(
                ["main", "article"]
            ):
                element.decompose()
        for anchor in parsed_page.find_all("a", href=True):
            with suppress(ValueError):
                anchor["href"] = urljoin(url, str(anchor["href"]))
        main_element = (
            parsed_page.find("main")
            or parsed_page.find("article")
            or parsed_page.body
            or parsed_page
        )
        text = markdownify(str(main_element), heading_style="ATX", strip=["img"])
    except FAULTS:
        return ""
    return re.sub(r"[ \t]+\n", "\n", re.sub(r"\n\s*\n\s*\n", "\n\n", text)).strip()


def _read_document(data: bytes, kind: str, url: str) -> dict[str, str]:
    if kind == "pdf":
        title, text = "", "\n\n".join(filter(None, map(str.strip, pdf.pdf_pages(BytesIO(data)))))
    else:
        title, text = page_to_markdown(data.decode("utf-8"), url)
    return {"title": title[:300], "text": text[:MAX_CHARACTERS]}


def _limit_process() -> None:
    try:
        import resource  # not on every system
    except ImportError:
        return
    with suppress(ValueError, OSError):  # a tighter bound is in force
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


def main() -> None:
    _limit_process()
    request = json.loads(sys.stdin.buffer.readline())
    try:
        answer = _read_document(sys.stdin.buffer.read(), request["kind"], request["url"])
    except ToolError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
