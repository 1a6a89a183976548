"""An authority for tests, and a certificate of its own for whatever names are needed."""

import datetime
import ipaddress
import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest

YESTERDAY = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
SOON = YESTERDAY + datetime.timedelta(days=30)


def secured(folder: Path, names: Sequence[str]) -> tuple[ssl.SSLContext, Path]:
    """What a server of these names and addresses speaks TLS with, and the authority's file."""
    pytest.importorskip("cryptography", reason="needs cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tests of andy")])
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(YESTERDAY)
        .not_valid_after(SOON)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName(
                [
                    x509.IPAddress(ipaddress.ip_address(each))
                    if ":" in each or each.replace(".", "").isdigit()
                    else x509.DNSName(each)
                    for each in names
                ]
            ),
            critical=False,
        )
    )
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    authority, both = folder / "authority.pem", folder / "server.pem"
    authority.write_bytes(certificate)
    both.write_bytes(private + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    return context, authority
