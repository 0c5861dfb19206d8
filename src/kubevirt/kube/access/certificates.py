"""Certificates, as far as a message needs them: until when a client certificate is good."""

from datetime import datetime


def complaint(pem: bytes, now: datetime) -> str:
    """Why the first certificate is not valid now, as the end of a sentence; empty when it is."""
    # Imported here: it costs more than the rest of the client, and only failures need it.
    from cryptography import x509  # noqa: PLC0415

    try:
        certificate = x509.load_pem_x509_certificate(pem)
    except ValueError:
        return "is not a PEM certificate"
    if now > certificate.not_valid_after_utc:
        return f"expired on {_day(certificate.not_valid_after_utc)}"
    if now < certificate.not_valid_before_utc:
        return (
            f"is valid only from {_day(certificate.not_valid_before_utc)} on,"
            f" and this machine's clock says {_day(now)}"
        )
    return ""


def _day(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M UTC")
