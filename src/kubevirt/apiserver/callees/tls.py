"""TLS towards a callee: whom we believe to be who they say they are."""

import ssl

from kubevirt.apiserver.callees.callee import Callee
from kubevirt.apiserver.callees.errors import CalleeAway


def client_context(callee: Callee) -> ssl.SSLContext:
    """As strict as Go is: names of the certificate's own extension count, and whatever stands in the
    bundle is trusted, though it be no authority.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if callee.is_unverified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif callee.authority:
        try:
            context.load_verify_locations(cadata=callee.authority.decode("ascii"))
        except (ssl.SSLError, UnicodeDecodeError, ValueError) as error:
            raise CalleeAway(
                "unable to load root certificates: unable to parse bytes as PEM block"
            ) from error
    else:
        context.load_default_certs()
    if callee.client:
        context.load_cert_chain(callee.client.certificate, callee.client.key)
    return context
