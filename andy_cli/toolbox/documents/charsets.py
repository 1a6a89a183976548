"""Bytes to text, whatever they were written in. Pure; it never fails and takes linear time."""

import codecs
import re
from collections.abc import Iterable

from andy_cli.toolbox.scripts import find_script_charset

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
KNOWN = frozenset(
    """utf-8 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be cp866 cp874 cp932 cp949 cp950
    cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u mac-roman
    mac-cyrillic shift_jis euc_jp iso2022_jp gb2312 gbk gb18030 big5 big5hkscs euc_kr tis-620
    iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10 iso8859-13
    iso8859-14 iso8859-15 iso8859-16""".split()
)
"""Not all that Python knows: `idna` or `unicode_escape` are no charsets of documents, and slow."""

WINDOWS = {"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254"}
"""Charsets that are called Latin-1 are those of Windows, as browsers read them."""

GOOD_PER_BROKEN = 4
"""Whole characters that have to come with each broken byte of a text in UTF-8."""

DECLARED = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,400}?(?:charset|encoding)\s*=\s*[\"']?([\w:.-]{2,40})", re.I
)


def decode_text(data: bytes, declared: str = "") -> str:
    """The text; a mark of the byte order beats what was declared, and that beats a guess.

    What fits no charset becomes U+FFFD.
    """
    for byte_order_mark, charset in BOMS:
        if data.startswith(byte_order_mark):
            return data[len(byte_order_mark) :].decode(charset, "replace")
    charset = known_charset(declared)
    if charset and charset != "utf-8":
        return data.decode(charset, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        guess = "utf-8" if is_nearly_utf_8([data]) else find_script_charset(data) or "cp1252"
        return data.decode(charset or guess, "replace")


def is_nearly_utf_8(pieces: Iterable[bytes]) -> bool:
    """Tell whether a text is UTF-8 but for some broken bytes, as a log may have them.

    Text of another charset has hardly a byte above 127 that is a part of a character in UTF-8.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    good = broken = 0
    for piece in pieces:
        text = decoder.decode(piece)
        whole_length = len(text.encode("utf-8", "ignore").decode("utf-8"))
        broken += len(text) - whole_length
        good += whole_length - len(text.encode("ascii", "ignore"))
    return good > GOOD_PER_BROKEN * broken


def known_charset(name: str) -> str:
    """A charset by the name that Python has for it; nothing if it is none of documents."""
    try:
        codec_name = codecs.lookup(name.strip().strip("\"'")).name if name else ""
    except (LookupError, ValueError):
        return ""
    return WINDOWS.get(codec_name, codec_name if codec_name in KNOWN else "")


def declared_in(data: bytes) -> str:
    """The charset that a page or an XML file names at its beginning."""
    declaration = DECLARED.search(data[:2048])
    return declaration[1].decode("ascii") if declaration else ""
