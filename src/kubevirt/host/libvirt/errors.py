"""What libvirt refuses, and what becomes of a daemon that does not answer.

    UserError
    ├── DomainRefusedError      libvirt will not have this domain or device: the manifest's fault
    └── UnsupportedCallError    this libvirt, QEMU or guest cannot do it
    Retry
    ├── LibvirtError            libvirt said no; its code and its words
    │   ├── NoSuchDomainError   there is no such guest (any more)
    │   ├── DomainExistsError   there is one of that name already
    │   ├── WrongStateError     not in the state the guest is in
    │   └── AgentError          the guest's agent: away, silent, or not to be believed
    └── Unreachable
        └── DaemonUnreachableError   no daemon, a dead one, or one that hangs

libvirt's own words are kept, cut to one line: they name files and devices better than we could.
"""

from typing import Final

import libvirt

from kubevirt.base.errors import Retry, Unreachable, UserError

_WORDS_LIMIT: Final = 500


class DomainRefusedError(UserError):
    """The same XML will be refused again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="DomainRefused")


class UnsupportedCallError(UserError):
    def __init__(self, message: str) -> None:
        super().__init__(message, reason="NotSupported")


class LibvirtError(Retry):
    """libvirt did not do it. `code` is its VIR_ERR_ number, for the few who must tell them apart."""

    def __init__(self, message: str, *, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class NoSuchDomainError(LibvirtError):
    pass


class DomainExistsError(LibvirtError):
    pass


class WrongStateError(LibvirtError):
    pass


class AgentError(LibvirtError):
    pass


class DaemonUnreachableError(Unreachable):
    pass


_REFUSED: Final = frozenset(
    {
        libvirt.VIR_ERR_XML_ERROR,
        libvirt.VIR_ERR_XML_DETAIL,
        libvirt.VIR_ERR_XML_INVALID_SCHEMA,
        libvirt.VIR_ERR_CONFIG_UNSUPPORTED,
        libvirt.VIR_ERR_CPU_INCOMPATIBLE,
        libvirt.VIR_ERR_OS_TYPE,
    }
)
_UNSUPPORTED: Final = frozenset(
    {
        libvirt.VIR_ERR_NO_SUPPORT,
        libvirt.VIR_ERR_OPERATION_UNSUPPORTED,
        libvirt.VIR_ERR_ARGUMENT_UNSUPPORTED,
    }
)
_DAEMON: Final = frozenset(
    {
        libvirt.VIR_ERR_RPC,
        libvirt.VIR_ERR_NO_CONNECT,
        libvirt.VIR_ERR_INVALID_CONN,
        libvirt.VIR_ERR_NO_SERVER,
    }
)
_OWN_CLASSES: Final[dict[int, type[LibvirtError]]] = {
    libvirt.VIR_ERR_NO_DOMAIN: NoSuchDomainError,
    libvirt.VIR_ERR_DOM_EXIST: DomainExistsError,
    libvirt.VIR_ERR_OPERATION_INVALID: WrongStateError,
    libvirt.VIR_ERR_AGENT_UNRESPONSIVE: AgentError,
    libvirt.VIR_ERR_AGENT_UNSYNCED: AgentError,
}


def translated(doing: str, error: libvirt.libvirtError) -> UserError | Retry:
    """The house's error for libvirt's; `doing` is what was tried, as in "pause the guest"."""
    code = error.get_error_code() or 0
    message = f"cannot {doing}: {words_of(error)}"
    if code in _REFUSED or _is_of_the_processor(error):
        return DomainRefusedError(message)
    if code in _UNSUPPORTED:
        return UnsupportedCallError(message)
    if is_of_the_connection(error):
        return DaemonUnreachableError(f"{message}; it is started anew if it died, so try again")
    return _OWN_CLASSES.get(code, LibvirtError)(message, code=code)


def _is_of_the_processor(error: libvirt.libvirtError) -> bool:
    """A model of which libvirt has never heard is an internal error of its part for processors."""
    return (error.get_error_domain(), error.get_error_code()) == (
        libvirt.VIR_FROM_CPU,
        libvirt.VIR_ERR_INTERNAL_ERROR,
    )


def is_of_the_connection(error: libvirt.libvirtError) -> bool:
    """Whether nobody answers, as opposed to an answer that is no."""
    # A daemon that dies in the middle of a call is a system error of the RPC layer.
    return error.get_error_code() in _DAEMON or (
        error.get_error_domain() == libvirt.VIR_FROM_RPC
        and error.get_error_code() in (libvirt.VIR_ERR_SYSTEM_ERROR, libvirt.VIR_ERR_INTERNAL_ERROR)
    )


def words_of(error: libvirt.libvirtError) -> str:
    text = " ".join((error.get_error_message() or str(error)).split())
    return "".join(each if each.isprintable() else " " for each in text)[:_WORDS_LIMIT]
