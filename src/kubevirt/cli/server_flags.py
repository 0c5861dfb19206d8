"""The flags that say which server is asked, and as whom: kubectl's own.

Every command takes them, before its name or after it. What is given is kept with the outermost context of
click; `access.py` reads it when a server is really asked. `--help` loads this file, so it is light.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

import click

from kubevirt.cli import completing
from kubevirt.cli.flags import Duration

F = TypeVar("F", bound=Callable[..., Any])

_KEY: Final = "kubevirt.cli.server_flags"


def kept(ctx: click.Context) -> dict[str, Any]:
    """What was given, by the names of `access.Access`."""
    found: dict[str, Any] = ctx.find_root().meta.setdefault(_KEY, {})
    return found


def note(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """A callback of click's: keeps what a flag was given."""
    if value is not None and value != () and param.name:
        kept(ctx)[param.name] = value


def server(function: F) -> F:
    """The common flags, less those whose names the command has for itself. Put it above all others."""
    taken = {name for each in getattr(function, "__click_params__", ()) for name in each.opts}
    for option in reversed(list(common())):
        option.opts = [name for name in option.opts if name not in taken]
        if any(name.startswith("--") for name in option.opts):
            function.__dict__.setdefault("__click_params__", []).append(option)
    return function


SHOWN: Final = ("--namespace", "--kubeconfig", "--context")
"""The common flags that the help of each command shows; `virtctl options` has all."""


def common(*, are_hidden: bool = False) -> Iterator[click.Option]:
    """As kubectl has them."""
    text = {"metavar": "TEXT"}
    file = {"metavar": "FILE"}
    flags: tuple[tuple[tuple[str, ...], str, dict[str, Any]], ...] = (
        (
            ("-n", "--namespace"),
            "In place of the context's.",
            {**text, "shell_complete": completing.namespaces},
        ),
        (("--kubeconfig",), "In place of kubectl's own.", file),
        (("--context",), "In place of the current one.", {"shell_complete": completing.contexts}),
        (("--cluster",), "Of the kubeconfig, in place of the context's.", text),
        (("--user",), "Of the kubeconfig, in place of the context's.", text),
        (("-s", "--server"), "The address of the API server, https://HOST:PORT.", text),
        (("--token",), "A bearer token.", text),
        (("--username",), "For basic authentication.", text),
        (("--password",), "For basic authentication.", text),
        (("--certificate-authority",), "Who signs the server's certificate.", file),
        (("--client-certificate",), "Yours.", file),
        (("--client-key",), "Its key.", file),
        (("--insecure-skip-tls-verify",), "Talk to whoever answers.", {"is_flag": True}),
        (("--tls-server-name",), "The name in the server's certificate.", text),
        (("--proxy-url",), "An HTTP proxy on the way.", text),
        (("--disable-compression",), "Ask for plain answers.", {"is_flag": True}),
        (("--as", "impersonate"), "Act as another user.", text),
        (("--as-uid", "impersonate_uid"), "Act as the user with this UID.", text),
        (
            ("--as-group", "impersonate_groups"),
            "Act as a member of it; may be repeated.",
            {**text, "multiple": True},
        ),
        (
            ("--request-timeout", "request_timeout_s"),
            "For one request; 0 leaves it to virtctl.",
            {"type": Duration()},
        ),
        (
            ("-v", "--v", "verbosity"),
            "From 6 on, each request is shown on standard error.",
            {"type": int, "metavar": "N"},
        ),
    )
    for names, line, settings in flags:
        ends = {"default": None, "expose_value": False, "callback": note, **settings}
        hides = are_hidden or not set(names) & set(SHOWN)
        yield click.Option(names, help=line, hidden=hides, **ends)
