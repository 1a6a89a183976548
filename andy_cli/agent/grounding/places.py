"""Does the evidence hold a file, a path, an address or an id? Pure."""

import re

from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.folding import folded


def file_holds(text: str, before: str, index: Index) -> bool:
    name = folded(text).strip()
    if "/" in name or "\\" in name:
        return path_holds(text, before, index)
    if index.says(name) and not index.holds(name):
        return " " in name or "_" in name or "-" in name
    return any(whole_name(name, before, index))


def whole_name(name: str, before: str, index: Index) -> list[bool]:
    """For each place of the name in the evidence: is it no mere end of another name there, unless
    the answer gives the rest of that name too?"""
    found: list[bool] = []
    at, text = -1, index.text
    for _ in range(32):
        at = text.find(name, at + 1)
        if at < 0:
            break
        if (
            text[at + len(name)].isalnum()
            or text[at - 1].isalnum()
            or (text[at - 1] in "_.-" and text[at - 2].isalnum())
        ):
            continue
        found.append(joined(before, text[max(0, at - 80) : at]))
    return found


def joined(said: str, known: str) -> bool:
    """The name stands alone in the evidence; or the words before it agree; or those of the answer
    are prose."""
    if not known.endswith(" ") or known.endswith(("  ", ": ", ", ", "; ")):
        return True
    spoken, last = said.split(), known.split()[-1:]
    word = spoken[-1:]
    if not word or not last or folded(word[0]) == last[0].lstrip("\"'([=/"):
        return True
    if word[0][0].isupper() and len(spoken) > 1:
        return f" {folded(word[0])} " in f" {known}".replace('"', " ")
    return not (word[0].isdigit() or word[0] in "-–&") or (
        last[0] in {"-", "and", "|"} and word == ["-"]
    )


def path_holds(text: str, before: str, index: Index) -> bool:
    path = folded(text).rstrip("/ .") or "/"
    if index.holds(path) or path in {"/", "~", "."}:
        return True
    path = path.replace("\\", "/").removeprefix("./")
    parts = [each for each in path.split("/") if each not in {"", "~", "."}]
    if not parts:
        return True
    known = index.text.replace("\\", "/")
    last = parts[-1]
    if "." in last and f"/{last}" in known:
        # Where whole paths are given, this must be one of them, or the end of one.
        tail = "/".join(parts[-2:])
        if any(each in known for each in (f"/{tail}", f"\n{tail}", f'"{tail}', f" {tail}")):
            return all(part in known for part in parts)
        if f"/{last}" not in known.replace(f"{tail}", ""):
            return False
    home = path.startswith(("~", "/home/", "/users/"))
    return all(index.holds(part) for part in (parts[2:] if home and path[0] == "/" else parts))


def url_holds(text: str, before: str, index: Index) -> bool:
    plain = re.sub(r"^(?:\w+://)?(?:www\.)?", "", folded(text)).rstrip("/")
    return plain in index.text


def address_holds(text: str, before: str, index: Index) -> bool:
    name, at = folded(text), -1
    for _ in range(16):
        at = index.text.find(name, at + 1)
        if at < 0:
            return False
        after = index.text[at + len(name) : at + len(name) + 2]
        if not re.match(r"[\w.+-]", index.text[at - 1]) and not re.match(r"[\w-]|\.\w", after):
            return True
    return False


def id_holds(text: str, before: str, index: Index) -> bool:
    name = folded(text)
    if re.fullmatch(r"[+\d ()/-]+", name):
        digits = re.sub(r"\D", "", name)[-7:]
        return digits in re.sub(r"(?<=\d)[ ()/-]+(?=[\d(])", "", index.text)
    if ":" in name:
        return all(map(index.holds, name.split(":")))
    if index.holds(name) or index.holds(name.removeprefix("#")):
        return True
    return (
        name in index.given
        and bool(re.fullmatch(r"[0-9a-f]{6,40}", name))
        and index.gives(rf"(?<!\w){name}")
    )


def version_holds(text: str, before: str, index: Index) -> bool:
    return index.text.find(folded(text).lstrip("v")) >= 0
