"""The user's documents: find words in the folders that `andy docs add` has indexed.

To have a folder indexed is to agree to its being searched, so a search touches no place of its own.
"""

from typing import Annotated

from andy_cli.toolbox.documents.whereabouts import missing_index
from andy_cli.toolbox.runtime_context import current_context
from andy_cli.toolbox.tool import Outcome, ResourceAccess, parameter, tool

Query = Annotated[
    str,
    parameter(
        "words to find",
        aliases=["q", "text", "keywords", "search_query", "words"],
        min_length=1,
        max_length=1000,
    ),
]
Scope = Annotated[
    str,
    parameter(
        "a folder or a pattern such as *.pdf; nothing means everywhere",
        aliases=["folder", "path", "directory", "pattern", "within"],
    ),
]
Limit = Annotated[
    int,
    parameter(
        "how many files at most", aliases=["max", "count", "maxResults", "max_results"], ge=1, le=50
    ),
]
SOME = "No file has all of the words; these have some of them."
CHANGED = "Some files have changed since they were indexed; `andy docs update` reads them again."


@tool(
    effect="read",
    title="document search",
    action="search the documents for {query} in {scope}",
    find_access=lambda arguments: ResourceAccess(),
    unavailable_reason=missing_index,
)
def search(query: Query, scope: Scope = "", limit: Limit = 10) -> Outcome:
    """Find words in the user's own documents, not on the web."""
    # SQLite takes 10 ms, and most conversations search nothing.
    from andy_cli.toolbox.documents.finding import find_documents
    from andy_cli.toolbox.documents.index import open_index

    with open_index() as index:
        looked = find_documents(index, query, scope, limit, current_context().workspace)
    several = looked.gone != 1
    gone = f"{looked.gone} document{'s' * several} with these words {'are' if several else 'is'}"
    partial = f"{gone} not there any more" if looked.gone else ""
    if not looked.hits:
        words = "No document has any of these words."
        return Outcome(words, "found nothing in the documents", partial)
    notes = [SOME] * (not looked.all_words) + [CHANGED] * any(hit.changed for hit in looked.hits)
    told = {"hits": [hit._asdict() for hit in looked.hits], "notes": notes}
    count = len(looked.hits)
    found = f"found {count} document{'s' * (count != 1)}"
    return Outcome({name: value for name, value in told.items() if value}, found, partial)
