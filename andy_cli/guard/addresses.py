"""Hosts and addresses of the network: one way to write each, and which may be fetched.

    judged = judge("https://example.org/", "GET", resolver)     the first request
    judged = judge_redirect(judged, 302, "https://other.example/", resolver)   each redirect

Nothing is fetched here. Whoever fetches connects to one of `pinned`, the addresses that were
checked, and to nothing a later lookup says; the name is asked for twice, so that one that changes
its answer is seen. Loopback, private, link-local and metadata addresses are for the user's own
settings (`trusted`) to open, never for a model or a page.

    allow           fetch it
    allow_stripped  fetch it without Authorization and Cookie: it is not where they were meant for
    ask             fetch it after a yes
    block           never
    error           it cannot be fetched: no such name, too many redirects
"""

import re
import shlex
import unicodedata
from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

from andy_cli.errors import UsageError
from andy_cli.settings import load

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
    is_dotted = not disguised and DOTTED.fullmatch(host) is not None
    # Not read the way old libraries do: who writes 0x7f.1 has something to hide.
    if not is_dotted or any(int(number) > 255 for number in host.split(".")):
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


Verdict = Literal["allow", "allow_stripped", "ask", "block", "error"]
Resolver = Callable[[str], Sequence[str]]
"""The addresses of a name; none where there is no such name."""

MAX_HOPS = 10
URL = re.compile(r"(https?)://([^/?#\\]*)([^\\]*)", re.IGNORECASE | re.DOTALL)
PORT = re.compile(r"(.*?)(?::([0-9]{0,9}))?", re.DOTALL)
FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
METHOD = re.compile(r"[A-Z]{3,16}")
DEFAULT_PORTS = {"http": 80, "https": 443}
OTHER_PROTOCOLS = frozenset(
    int(port)
    for port in """
    0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113
    115 117 119 123 135 137 138 139 143 161 162 179 389 427 445 465 512 513 514 515 526 530 531 532
    540 548 554 556 563 587 601 636 989 990 992 993 995 1433 1521 1719 1720 1723 2049 2181 2375 2376
    2379 2380 3306 3389 3659 4045 4190 5060 5061 5432 5672 5900 5984 6000 6379 6443 6566 6665 6666
    6667 6668 6669 6679 6697 9042 9092 9100 9200 9300 10080 10250 11211 27017
    """.split()
)
"""Ports where something else than the web listens, and where a request may be an order to it."""

REFRESH = re.compile(r"http-equiv\s*=\s*[\"']?refresh|^refresh\s*:", re.IGNORECASE | re.MULTILINE)


class AddressJudgement(NamedTuple):
    """A verdict on one request. `pinned` are the addresses to connect to, in order."""

    verdict: Verdict
    reason: str
    method: str = "GET"
    url: str = ""
    host: str = ""
    """As it is asked for and shown: lower case, punycode, no brackets."""

    port: int = 0
    pinned: tuple[str, ...] = ()
    hops: int = 0

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.url[:5].lower().rstrip(":"), self.host, self.port


def judge(
    url: str, method: str, resolver: Resolver, trusted: Collection[str] = (), redirects: int = 0
) -> AddressJudgement:
    """Judge one request; `trusted` are hosts, or `host:port`, of the user's own settings."""
    if not METHOD.fullmatch(method) or method in ("CONNECT", "TRACE", "TRACK"):
        return AddressJudgement("block", f"{method!r} is no method to fetch with")
    url_match = URL.fullmatch(url)
    if url_match is None or FORBIDDEN.search(url):
        return AddressJudgement("block", "only plain http and https addresses are fetched", method)
    if "@" in url_match[2]:
        return AddressJudgement(
            "block", "an address with a user name in it hides where it leads", method
        )
    # It fits every text: what is no port stays at the host, and is refused with it.
    host_and_port = PORT.fullmatch(url_match[2])
    assert host_and_port is not None
    port = int(host_and_port[2]) if host_and_port[2] else DEFAULT_PORTS[url_match[1].lower()]
    named_host = host_and_port[1].lower()
    # Before the host is judged: what the user trusts is mostly a name of their own network.
    if {named_host, f"{named_host}:{port}"} & set(trusted):
        addresses = tuple(_resolve_host(named_host, resolver))
        return AddressJudgement(
            "allow", "the settings name it", method, url, named_host, port, addresses, redirects
        )
    try:
        host = plain_host(host_and_port[1])
    except HostError as error:
        return AddressJudgement("block", str(error), method, host=named_host, port=port)
    judged = AddressJudgement("allow", "a public address", method, url, host, port, (), redirects)
    return _judge_resolved(judged, host_and_port[1], resolver)


def advise_opening(judged: AddressJudgement) -> str:
    """Advise how the user can open what is their own; nothing for what is not."""
    if "not on the public net" not in judged.reason and "its network" not in judged.reason:
        return ""
    # What is set stands in place of what was: those that are named already are named again.
    named_hosts = load().text("web.trusted")
    hosts = f"{named_hosts}, {judged.host}:{judged.port}".removeprefix(", ")
    command = f"andy config set web.trusted {shlex.quote(hosts)}"
    return f"A server of one's own can be named: `{command}`."


def _judge_resolved(judged: AddressJudgement, written: str, resolver: Resolver) -> AddressJudgement:
    """Judge by the port, the name and its addresses; a doubt is kept for addresses that pass."""
    if judged.port in OTHER_PROTOCOLS or judged.port > 65535:
        return _refuse_request(judged, f"port {judged.port} is not for the web")
    addresses = _resolve_host(judged.host, resolver)
    private_addresses = [address for address in addresses if not is_public(address)]
    if private_addresses:
        subject = judged.host
        if judged.host != private_addresses[0]:
            subject = f"{judged.host} leads to {private_addresses[0]}, which"
        return _refuse_request(judged, f"{subject} is not on the public net")
    if doubt := _find_reason_to_ask(judged, written):
        return judged._replace(verdict="ask", reason=doubt, pinned=tuple(addresses))
    if not addresses:
        return judged._replace(verdict="error", reason=f"{judged.host} is not found")
    return judged._replace(pinned=tuple(addresses))


def _find_reason_to_ask(judged: AddressJudgement, written: str) -> str:
    """Tell why a public address needs a yes, or nothing."""
    if judged.port < 1024 and judged.port not in DEFAULT_PORTS.values():
        return f"port {judged.port} is not for the web"
    return find_spoofing(written, judged.host)


def _resolve_host(host: str, resolver: Resolver) -> list[str]:
    """Every address the name has, asked for twice; an address has itself."""
    if is_address(host):
        return [host]
    first = list(resolver(host))
    return [*first, *(address for address in resolver(host) if address not in first)]


def judge_redirect(
    previous: AddressJudgement,
    status: int,
    location: str,
    resolver: Resolver,
    trusted: Collection[str] = (),
) -> AddressJudgement:
    """Judge where an allowed request is sent on to; `previous` says how often that happened."""
    redirects = previous.hops + 1
    if redirects > MAX_HOPS:
        return previous._replace(verdict="error", reason="too many redirects", pinned=())
    keeps_method = status in (307, 308) or previous.method in ("GET", "HEAD")
    try:
        target = urljoin(previous.url, location)
    except ValueError:
        target = location
    redirected = judge(
        target, previous.method if keeps_method else "GET", resolver, trusted, redirects
    )
    if redirected.verdict != "allow" or redirected.origin == previous.origin:
        stripped = previous.verdict == "allow_stripped" and redirected.verdict == "allow"
        return redirected._replace(verdict="allow_stripped") if stripped else redirected
    return _judge_other_origin(previous, redirected)


def _judge_other_origin(
    previous: AddressJudgement, redirected: AddressJudgement
) -> AddressJudgement:
    """Judge an allowed redirect by what would be given to another origin than it was meant for."""
    if previous.origin[0] == "https" and redirected.origin[0] == "http":
        return _refuse_request(redirected, "the redirect gives up encryption")
    if redirected.method not in ("GET", "HEAD"):
        return _refuse_request(redirected, "what was sent is not sent again to another place")
    if _is_https_upgrade(previous, redirected):
        return redirected._replace(verdict=previous.verdict)
    return redirected._replace(verdict="allow_stripped", reason="another place: no keys go along")


def _refuse_request(judged: AddressJudgement, reason: str) -> AddressJudgement:
    return judged._replace(verdict="block", reason=reason, pinned=())


def _is_https_upgrade(previous: AddressJudgement, redirected: AddressJudgement) -> bool:
    """Tell whether it is the same host, now encrypted."""
    return (previous.origin, redirected.origin) == (
        ("http", redirected.host, 80),
        ("https", redirected.host, 443),
    )


def judge_redirects(
    method: str, url: str, answers: Sequence[str], resolver: Resolver
) -> AddressJudgement:
    """The last verdict of a request whose answers are known, such as `302 https://a.example/`."""
    judged = judge(url, method, resolver)
    for answer in answers:
        if judged.verdict not in ("allow", "allow_stripped"):
            break
        status, _, location = answer.partition(" ")
        if status in ("301", "302", "303", "307", "308"):
            judged = judge_redirect(judged, int(status), location, resolver)
        elif REFRESH.search(location):
            return _refuse_request(judged, "a page does not send us on")
        else:
            break
    return judged
