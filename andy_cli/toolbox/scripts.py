"""Tell by its script in which charset a text without a mark is written: Japanese, Chinese, Korean
or Cyrillic. Pure.

No dictionary is asked. A charset counts where a text in it is what its script looks like: Japanese
has kana, Chinese and Korean keep to the plane of frequent characters, words of Cyrillic have no
Latin letter in them and their capitals in front.
"""

import codecs
import re

MAX_BYTES = 1 << 16
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
CYRILLIC = re.compile(r"[^\W\d_]*[\u0400-\u04ff][^\W\d_]*")
PROPER = re.compile("[\u0430-\u045f]+|[\u0400-\u042f][\u0430-\u045f]*|[\u0400-\u042f]+")
"""A word all of whose letters are Cyrillic: small, with a capital in front, or all in capitals."""
SMALL = re.compile("[\u0430-\u045f]")


def find_script_charset(sample: bytes) -> str:
    """Find the charset; empty where the text may as well be one of western Europe."""
    start = next((match.start() for match in re.finditer(rb"[\x80-\xff]", sample)), len(sample))
    sample = sample[start : start + MAX_BYTES]
    if not sample:
        return ""
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
        if 5 * len(KANA.findall(text)) > len(SIGNS.findall(text)):
            return charset
    return ""


def _find_cyrillic(sample: bytes) -> str:
    """Of two that fit the one is taken in which more letters are small."""
    fitting: dict[str, int] = {}
    for charset in ("cp1251", "koi8-r"):
        text = _decode(sample, charset)
        words = CYRILLIC.findall(text)
        letters = sum(map(len, words))
        proper = sum(len(word) for word in words if PROPER.fullmatch(word) and len(word) > 1)
        others = len(re.findall("[^\x00-\x7f]", text)) - letters
        if letters >= ENOUGH and proper > 0.9 * letters and 4 * others < letters:
            fitting[charset] = len(SMALL.findall(text))
    return max(fitting, key=lambda charset: fitting[charset], default="")


def _find_frequent(sample: bytes) -> str:
    """Find the one charset in which all but a few characters are frequent."""
    fitting: dict[str, int] = {}
    for charset, frequent in FREQUENT.items():
        signs = SIGNS.findall(_decode(sample, charset))
        common = sum(frequent.fullmatch(sign.encode(charset)) is not None for sign in signs)
        if len(signs) >= ENOUGH and common > 0.9 * len(signs):
            fitting[charset] = common
    if {"cp949", "gbk"} <= fitting.keys() and fitting["cp949"] < fitting["gbk"]:
        del fitting["cp949"]  # its plane is a part of the one of GBK: Chinese goes beyond it
    return next((charset for charset in ("cp949", "gbk", "cp950") if charset in fitting), "")
