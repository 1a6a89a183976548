"""A mail, built and shown: what the user agrees to is what is sent.

RFC 5322 by the standard library. No text can become a header: line breaks in a subject are blanks,
and a receiver is nothing but addresses.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.errors import ToolError
from andy_cli.toolbox.google.ids import show_id

MAX_CHARACTERS = 5_000_000
"""Characters of a body."""

MAX_RECEIVERS = 100
"""Receivers of one mail."""

ADDRESS = re.compile(r"[^\s@<>()\[\],;:\\\"]+@[^\s@<>()\[\],;:\\\"]+\.[^\s@<>()\[\],;:\\\"]+")


class Receiver(NamedTuple):
    name: str
    address: str
    """As the net knows it: a domain in other letters is spelled `xn--...`."""
    written: str

    def show_receiver(self) -> str:
        """With both spellings of a domain: one letter may look like another."""
        other_spelling = f" ({self.address})" if self.address != self.written else ""
        shown_address = self.written + other_spelling
        return f"{self.name} <{shown_address}>" if self.name else shown_address


class MailDraft(NamedTuple):
    to: tuple[Receiver, ...]
    subject: str
    body: str

    def show_mail(self) -> str:
        """The whole mail, for whoever has to agree to it."""
        shown_receivers = ", ".join(receiver.show_receiver() for receiver in self.to)
        return f"To: {shown_receivers}\nSubject: {self.subject}\n\n{self.body}"


def draft_mail(to: str | Sequence[str], subject: str, body: str) -> MailDraft:
    """Raises ToolError for what cannot be sent."""
    receivers = parse_receivers(to)
    if not receivers:
        raise ToolError("The mail has no receiver.", "Give an address like ada@example.org.")
    if len(receivers) > MAX_RECEIVERS:
        raise ToolError(f"A mail goes to {MAX_RECEIVERS} receivers at most, not {len(receivers)}.")
    if len(body) > MAX_CHARACTERS:
        raise ToolError("The mail is too long.", "Put the text into a document and send its link.")
    try:
        (subject + body).encode()
    except UnicodeEncodeError as error:
        raise ToolError("The mail holds half a character.", "Write that character anew.") from error
    return MailDraft(tuple(receivers), " ".join(subject.split()), body)


def parse_receivers(to: str | Sequence[str]) -> list[Receiver]:
    """Each once, in order. Raises ToolError for anything that is no address."""
    written = to if isinstance(to, str) else ", ".join(to)
    receivers: dict[str, Receiver] = {}
    for address in _split_addresses(written):
        receiver = _parse_receiver(address)
        receivers.setdefault(receiver.address.lower(), receiver)
    return list(receivers.values())


def _split_addresses(written: str) -> list[str]:
    """At commas, semicolons and line ends, but not within quotes."""
    addresses = re.findall(r'(?:"[^"\r\n]*"|[^",;\r\n]|")+', written)
    return [address.strip() for address in addresses if address.strip()]


def _parse_receiver(written: str) -> Receiver:
    name, address = "", written
    has_one_pair = written.count("<") == written.count(">") == 1
    if has_one_pair and written.endswith(">"):
        name, _, address = written[:-1].partition("<")
    address = address.strip().removeprefix("mailto:")
    local, _, domain = address.rpartition("@")
    labels = [*local.split("."), *domain.split(".")]
    is_written_well = ADDRESS.fullmatch(address) and local.isascii() and address.isprintable()
    # 254 characters are the most that RFC 5321 leaves for an address.
    is_short = len(address) <= 254 and all(0 < len(label) < 65 for label in labels)
    if not is_written_well or not is_short:
        raise ToolError(f"{show_id(written)} is no usable mail address.", "Ask the user for it.")
    name = " ".join(name.replace('"', " ").split())
    if not name.isprintable():
        raise ToolError(f"{show_id(written)} holds characters that no name has.")
    return Receiver(name, f"{local}@{_on_the_net(domain)}", address)


def _on_the_net(domain: str) -> str:
    if domain.isascii():
        return domain
    import idna  # httpx2 brings it, and few domains need it

    try:
        return idna.encode(domain, uts46=True).decode()
    except idna.IDNAError as error:
        raise ToolError(
            f"{show_id(domain)} is no domain.", "Ask the user for the address."
        ) from error


def as_message(letter: MailDraft, sender: str = "") -> bytes:
    """The mail as it travels, in seven bits. Raises ToolError for an address with no form there."""
    from email.errors import MessageError  # 15 ms together, and only who sends needs them
    from email.headerregistry import Address
    from email.message import EmailMessage
    from email.policy import SMTP

    message = EmailMessage(policy=SMTP.clone(cte_type="7bit"))
    try:
        if sender:
            message["From"] = Address(addr_spec=sender)
        message["To"] = [
            Address(receiver.name, addr_spec=receiver.address) for receiver in letter.to
        ]
        message["Subject"] = letter.subject
        message.set_content(letter.body)
        return message.as_bytes()
    except (ValueError, IndexError, MessageError) as error:
        raise ToolError("The mail cannot be written: one of its addresses is not valid.") from error
