"""Hosts and addresses: one way to write each; which are this machine, public, or a deception."""

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from andy_cli.errors import UsageError

DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
DOTTED = re.compile(r"(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}")
OURS = frozenset(
    "local localhost localdomain internal intranet lan home corp private onion arpa".split()
)
"""Last labels of names that mean something of one's own network."""

NOT_PUBLIC = tuple(
    ip_network(word)
    for word in """
    192.0.0.0/24 192.88.99.0/24 168.63.129.16/32 100.64.0.0/10 100::/64 2001::/23 3fff::/20
    5f00::/16 fec0::/10
    """.split()
)
"""Networks that `is_global` lets through in some versions of Python, and Azure's own address."""

CARRIERS = tuple(
    (ip_network(net), shift)
    for net, shift in [
        ("::ffff:0:0/96", 0),
        ("::/96", 0),
        ("::ffff:0:0:0/96", 0),
        ("64:ff9b::/96", 0),
        ("64:ff9b:1::/48", 0),
        ("2002::/16", 80),
    ]
)
"""Version 6 networks whose addresses carry one of version 4, and how many bits stand after it."""

ISATAP = 0x5EFE
"""Stands before the last 32 bits of a version 6 address that are one of version 4 (RFC 5214)."""


class HostError(Exception):
    """A host that is not fetched from, with the reason."""


def plain_host(written: str) -> str:
    """The host as it is resolved: lower case, punycode, no brackets or last dot.

    Raises HostError for what is no host, names this machine or its network, or is an address in
    disguise: `127.1`, `0x7f000001`, `[::1%eth0]`.
    """
    if written.startswith("["):
        return _version_6(written)
    host = unicodedata.normalize("NFKC", written).translate(DOTS).lower()
    host = host.removesuffix(".")
    labels = host.split(".")
    if NUMBER.fullmatch(labels[-1]):
        return _version_4(host, disguised=not written.isascii())
    host = _encode_punycode(host)
    labels = host.split(".")
    if len(host) > 253 or not all(map(LABEL.fullmatch, labels)):
        raise HostError(f"{written[:80]!r} is no host")
    if len(labels) == 1 or labels[-1] in OURS or labels[-2:] == ["cluster", "local"]:
        raise HostError(f"{host} is a name of this machine or its network")
    return host


def _version_6(written: str) -> str:
    try:
        address = IPv6Address(written[1:-1] if written.endswith("]") else written)
    except ValueError as error:
        raise HostError(f"{written[:80]!r} is no address") from error
    if address.scope_id:
        raise HostError("an address with a zone is one of this network")
    return str(address)


def _version_4(host: str, disguised: bool) -> str:
    # Not read the way old libraries do: who writes 0x7f.1 has something to hide.
    if (
        disguised
        or not DOTTED.fullmatch(host)
        or any(int(number) > 255 for number in host.split("."))
    ):
        raise HostError(f"{host[:80]} is an address in disguise")
    return host


def _encode_punycode(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise HostError(f"{host[:80]!r} is no host") from error


def is_address(host: str) -> bool:
    """Tell whether a plain host is an address rather than a name."""
    return ":" in host or DOTTED.fullmatch(host) is not None


def is_loopback(host: str) -> bool:
    """Tell whether a host in lower case is this machine, by its name or its address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_public(written: str) -> bool:
    """Tell whether an address is on the public net, and whatever it carries too."""
    try:
        address = ip_address(written)
    except ValueError:
        return False
    carried = _embedded_ipv4(address) if isinstance(address, IPv6Address) else None
    if carried is not None:
        return is_public(str(carried))
    if any(address in network for network in NOT_PUBLIC if network.version == address.version):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """The version 4 address inside one of version 6."""
    if address.scope_id:
        return IPv4Address(0)
    address_bits = int(address)
    for network, shift in CARRIERS:
        if address in network:
            return IPv4Address(address_bits >> shift & 0xFFFFFFFF)
    if address_bits >> 32 & 0xFFFF == ISATAP:
        return IPv4Address(address_bits & 0xFFFFFFFF)
    return None


def find_spoofing(written: str, host: str) -> str:
    """Tell why a host may not be what it seems to be, or nothing.

    Letters of Latin script are what they seem; others can look like them.
    """
    if not written.isascii() and written.translate(DOTS).isascii():
        return f"{host} is written with unusual dots"
    try:
        name = ".".join(_decode_label(label) for label in host.split("."))
    except UnicodeError:
        return f"{host} is no proper name"
    if not all(map(_is_plain_letter, name)):
        return f"{host} is written with letters that look like others"
    if not written.isascii() and written.lower() not in (name, name + "."):
        return f"{host} is written with unusual letters"
    return ""


def _decode_label(label: str) -> str:
    return label[4:].encode().decode("punycode") if label.startswith("xn--") else label


def _is_plain_letter(character: str) -> bool:
    """Tell whether a character of a host is of ASCII or a letter of Latin script."""
    return character.isascii() or unicodedata.name(character, "").startswith("LATIN SMALL LETTER")


def is_loopback_url(url: str) -> bool:
    """Tell whether a server is on this machine: nothing of ours leaves it, and it may be slow."""
    host = (urlsplit(url).hostname or "").lower()
    return is_loopback(host) or host.endswith(".localhost")


def show_url(url: str) -> str:
    """The address without a user name, password or query, which may hold a key."""
    url_parts = urlsplit(url)
    host = url_parts.netloc.rpartition("@")[2]
    return f"{url_parts.scheme}://{host}{url_parts.path.rstrip('/')}"


def check_base_url(url: str) -> str:
    """A base URL as it will be used; raises `UsageError` if nothing can be at it."""
    text = url.strip()
    text = (text if "://" in text else f"http://{text}").rstrip("/")
    try:
        url_parts = urlsplit(text)
        is_usable = (
            url_parts.scheme in ("http", "https")
            and url_parts.hostname
            and (url_parts.port or 1)
            and not url_parts.netloc.endswith(":")  # `htp:/x` is a scheme that is misspelt
        )
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UsageError(
            f"{url!r} is not the address of a model server.",
            "Write it as http://127.0.0.1:8080/v1 or https://example.org/v1.",
        )
    return text.removesuffix("/chat/completions")
