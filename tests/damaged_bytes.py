"""Bytes that a reader has to expect: those of somebody else, of another version, damaged, cut off.

foreign_json({"models": [{"endpoint": "...", "right": 7}]})    values like it, and unlike it
foreign_bytes(b"...")                                          bytes like these, and any others
"""

import json

from hypothesis import strategies as st

Tree = object

DEEP = 3_000
"""More lists inside each other than the recursion limit is."""
NESTED = 900
"""So many that they can be read, but hardly walked through."""
NASTY = [
    "[" * DEEP,
    '{"a":' * DEEP,
    "[" * DEEP + "]" * DEEP,
    "[" * NESTED + "]" * NESTED,
    '{"a":' * NESTED + "1" + "}" * NESTED,
    '{"name":"a","data":[' * (NESTED // 2) + "]}" * (NESTED // 2),
    "a=" + "[" * DEEP,
    "a.b." * DEEP + "c=1",
    "9" * 5_000,
    f"a={'9' * 5_000}",
    f"a=0x{'f' * 5_000}",
    "1e999",
    "NaN",
    "\x00",
    "\ufeff",
    "\ud800",
    '"\\ud800"',
    "\u2028",
    "{}",
    "[]",
    "null",
    '"',
    "\r",
]
WORDS = [
    "",
    "a",
    "..",
    "/",
    "~",
    "$HOME",
    "${X}",
    "\x00",
    "\ud800",
    "\u2028",
    "é" * 40,
    "-1",
    "nan",
]
NUMBERS = [0, -1, 2**31, 2**64, 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan")]

leaves = (st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.sampled_from(WORDS)) | st.text(
    max_size=6
)


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def keys_in(tree: Tree) -> list[str]:
    """Every key of every object in a tree."""
    if isinstance(tree, dict):
        return [*tree, *(key for inner in tree.values() for key in keys_in(inner))]
    if isinstance(tree, list):
        return [key for inner in tree for key in keys_in(inner)]
    return []


def trees(keys: list[str]) -> st.SearchStrategy[Tree]:
    """Any value of JSON whose objects mostly use these keys."""
    names = st.sampled_from([*keys, "x", ""])
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
        max_leaves=8,
    )


@st.composite
def foreign_json(draw: st.DrawFn, example: Tree) -> Tree:
    """The example with some of its parts replaced by anything, left out or doubled."""
    anything = trees(keys_in(example))

    def changed(tree: Tree) -> Tree:
        if draw(st.integers(0, 9)) == 0:
            return draw(anything)
        if isinstance(tree, dict):
            kept = {key: changed(value) for key, value in tree.items() if draw(st.integers(0, 9))}
            if draw(st.integers(0, 9)) == 0:
                kept["more"] = draw(anything)
            return kept
        if isinstance(tree, list):
            items = [changed(value) for value in tree]
            return [*items, draw(anything)] if draw(st.integers(0, 4)) == 0 else items
        return draw(anything) if draw(st.integers(0, 4)) == 0 else tree

    return changed(example)


@st.composite
def cut_and_patched(draw: st.DrawFn, example: bytes) -> bytes:
    """The example with a piece taken out and something else put in its place."""
    start = draw(st.integers(0, len(example)))
    end = draw(st.integers(start, min(len(example), start + 40)))
    patch = st.sampled_from([as_bytes(text) for text in NASTY]) | st.binary(max_size=20)
    return example[:start] + draw(patch | st.just(b"")) + example[end:]


def foreign_bytes(example: bytes, tree: Tree | None = None) -> st.SearchStrategy[bytes]:
    """Bytes like the example, like its `tree` as JSON, and any others."""
    nasty = st.sampled_from([as_bytes(text) for text in NASTY])
    found = st.binary(max_size=60) | nasty | cut_and_patched(example)
    if tree is None:
        return found
    return found | foreign_json(tree).map(lambda value: as_bytes(json.dumps(value)))
