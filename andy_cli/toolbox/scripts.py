"""Tell by its script in which charset a text without a mark is written: Japanese, Chinese, Korean
or Cyrillic. Pure.

No dictionary is asked. A charset counts where a text in it is what its script looks like: Japanese
has kana, Chinese and Korean keep to the plane of frequent characters, words of Cyrillic have no
Latin letter in them and their capitals in front.
"""

import codecs
import re

MAX_BYTES = 1 << 13
"""Bytes that are looked at, from the first one above 127 on."""
KANA = re.compile("[\u3041-\u30fa]")
FREQUENT = {
    "gbk": re.compile(rb"[\xb0-\xd7][\xa1-\xfe]"),
    "cp950": re.compile(rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]"),
    "cp949": re.compile(rb"[\xb0-\xc8][\xa1-\xfe]"),
}
"""The characters of the first plane of each: nine of ten in any text."""
SIGNS = re.compile("[^\x00-\x7f\u3000-\u303f\uff00-\uffef]")
"""Characters of a script, without its punctuation."""
ENOUGH = 6
"""Characters above ASCII without which two charsets are not told apart."""
VARIETY = 3
"""Different ones among them, without which they are a line that is drawn."""
MIN_DENSITY = 1.25
"""Bytes above ASCII for each character: the degrees of `20 \u00b0C` look like one of Big5."""
ASCII = bytes(range(128))
MIXED = re.compile(rb"[A-Za-z][\x80-\xff]|[\x80-\xff][A-Za-z]")
"""A letter of western Europe in its word; seldom one of Cyrillic."""
CYRILLIC = re.compile(r"[^\W\d_]*[\u0400-\u04ff][^\W\d_]*")
PROPER = re.compile("[\u0430-\u045f]+|[\u0400-\u042f][\u0430-\u045f]*|[\u0400-\u042f]+")
"""A word all of whose letters are Cyrillic: small, with a capital in front, or all in capitals."""
SMALL = re.compile("[\u0430-\u045f]")


def find_script_charset(sample: bytes) -> str:
    """Find the charset; empty where the text may as well be one of western Europe."""
    first_high_byte = re.search(rb"[\x80-\xff]", sample)
    if first_high_byte is None:
        return ""
    start = first_high_byte.start()
    sample = sample[start : start + MAX_BYTES]
    return _find_japanese(sample) or _find_cyrillic(sample) or _find_frequent(sample)


def _decode(sample: bytes, charset: str) -> str:
    """Decode a text that may be cut off in a character; empty where it is not in the charset."""
    try:
        return codecs.getincrementaldecoder(charset)().decode(sample)
    except UnicodeDecodeError:
        return ""


def _find_japanese(sample: bytes) -> str:
    for charset in ("cp932", "euc_jp"):
        text = _decode(sample, charset)
        kana = KANA.findall(text)
        if len(set(kana)) > 1 and 5 * len(kana) > len(SIGNS.findall(text)):
            return charset
    return ""


def _count_high_bytes(sample: bytes) -> int:
    return len(sample.translate(None, ASCII))


def _find_cyrillic(sample: bytes) -> str:
    """Of two that fit the one is taken in which more letters are small."""
    if 4 * len(MIXED.findall(sample)) > _count_high_bytes(sample):
        return ""
    texts = {charset: _decode(sample, charset) for charset in ("cp1251", "koi8-r")}
    fitting = {
        charset: len(SMALL.findall(text)) for charset, text in texts.items() if _is_cyrillic(text)
    }
    return max(fitting, key=lambda charset: fitting[charset], default="")


def _is_cyrillic(text: str) -> bool:
    words = CYRILLIC.findall(text)
    letters = "".join(words)
    if len(letters) < ENOUGH or len(set(letters)) < VARIETY:
        return False
    proper_words = [word for word in words if len(word) > 1 and PROPER.fullmatch(word)]
    others = sum(not character.isascii() for character in text) - len(letters)
    return len("".join(proper_words)) > 0.9 * len(letters) and 4 * others < len(letters)


def _find_frequent(sample: bytes) -> str:
    """Find the one charset in which all but a few characters are frequent."""
    counts = {charset: _count_frequent(sample, charset) for charset in FREQUENT}
    if counts["cp949"] < counts["gbk"]:
        del counts["cp949"]  # its plane is a part of the one of GBK: Chinese goes beyond it
    return next((charset for charset in ("cp949", "gbk", "cp950") if counts.get(charset)), "")


def _count_frequent(sample: bytes, charset: str) -> int:
    """Count the frequent characters; none where the text is not in the charset."""
    signs = SIGNS.findall(_decode(sample, charset))
    is_dense = _count_high_bytes(sample) > MIN_DENSITY * len(signs)
    if len(signs) < ENOUGH or len(set(signs)) < VARIETY or not is_dense:
        return 0
    common = sum(FREQUENT[charset].fullmatch(sign.encode(charset)) is not None for sign in signs)
    return common if common > 0.9 * len(signs) else 0
