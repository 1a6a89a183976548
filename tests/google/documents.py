"""Google Docs as far as our tools go: documents that are plain text, or given as they are."""

from typing import Any
from uuid import uuid4

Record = dict[str, Any]


def units(text: str) -> int:
    """Docs counts in UTF-16."""
    return len(text.encode("utf-16-le")) // 2


class Documents:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """Each ends with a line break, as every body does."""
        self.titles: dict[str, str] = {}
        self.given: dict[str, Any] = {}
        """Documents that are only read."""

    def add(self, id: str, title: str, text: str) -> None:
        self.titles[id], self.texts[id] = title, text + "\n"

    def documents_get(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        id = path[2]
        return self.given[id] if id in self.given else self._resource(id, query)

    def documents_create(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        id = uuid4().hex
        self.add(id, body.get("title") or "Untitled document", "")
        return self._resource(id, {})

    def documents_batchUpdate(self, path: list[str], query: dict[str, str], body: Record) -> Record:
        id = path[2].removesuffix(":batchUpdate")
        before = self.texts[id]
        try:
            replies = [self._edit(id, each) for each in body["requests"]]
        except ValueError:
            self.texts[id] = before
            raise
        return {"documentId": id, "replies": replies}

    def _edit(self, id: str, request: Record) -> Record:
        text = self.texts[id]
        if "insertText" in request:
            asked = request["insertText"]
            at = asked["location"]["index"] if "location" in asked else units(text)
            if not 1 <= at <= units(text):
                raise ValueError(f"Index {at} must be less than the end index of the segment.")
            encoded, cut = text.encode("utf-16-le"), 2 * (at - 1)
            before, after = encoded[:cut].decode("utf-16-le"), encoded[cut:].decode("utf-16-le")
            self.texts[id] = before + asked["text"] + after
            return {}
        asked = request["replaceAllText"]
        find = asked["containsText"]["text"]
        assert asked["containsText"]["matchCase"]
        number = text[:-1].count(find)
        self.texts[id] = text[:-1].replace(find, asked["replaceText"]) + "\n"
        return {"replaceAllText": {"occurrencesChanged": number} if number else {}}

    def _resource(self, id: str, query: dict[str, str]) -> Record:
        body = {"content": self._content(self.texts[id])}
        known = {"documentId": id, "title": self.titles[id], "revisionId": "r1"}
        if query.get("includeTabsContent") != "true":
            return {**known, "body": body}
        about = {"tabId": "t.0", "title": "Tab 1", "index": 0}
        return {**known, "tabs": [{"tabProperties": about, "documentTab": {"body": body}}]}

    def _content(self, text: str) -> list[Any]:
        found: list[Any] = [{"endIndex": 1, "sectionBreak": {"sectionStyle": {}}}]
        at = 1
        for line in text.splitlines(keepends=True):
            end = at + units(line)
            run = {"startIndex": at, "endIndex": end, "textRun": {"content": line, "textStyle": {}}}
            style = {"namedStyleType": "NORMAL_TEXT", "direction": "LEFT_TO_RIGHT"}
            paragraph = {"elements": [run], "paragraphStyle": style}
            found.append({"startIndex": at, "endIndex": end, "paragraph": paragraph})
            at = end
        return found
