"""virtctl up: a Kubernetes on this machine, in one process, ready in about a second."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from kubevirt.base.errors import UserError
from kubevirt.cli import exit_codes, options
from kubevirt.cli.render import steps
from kubevirt.embedded.home import Home
from kubevirt.embedded.process import guests
from kubevirt.embedded.process.progress import Event, Failed, Listener, Ready
from kubevirt.embedded.process.settings import Wishes, check, unmet


@click.command("up")
@options.home
@click.option("--port", type=int, help="Of the API server; 0 takes one that is free.")
@click.option("--nodes", type=int, help="How many nodes; 1 unless chosen before.")
@click.option("--foreground", is_flag=True, help="Stay, and stop with Ctrl+C.")
@click.option(
    "--merge-kubeconfig/--no-merge-kubeconfig",
    "is_merging",
    default=True,
    help="Whether the context kubevirt is put into your kubeconfig.",
)
@click.option(
    "--without-kubevirt",
    is_flag=True,
    envvar="VIRTCTL_WITHOUT_KUBEVIRT",
    help="A plain Kubernetes, without virtual machines.",
)
@click.option(
    "--separate/--no-separate",
    "separate",
    default=None,
    envvar="VIRTCTL_SEPARATE",
    help="Whether each of KubeVirt's programs is a process of its own; no, unless chosen before.",
)
@options.progress
def command(
    folder: Path,
    port: int | None,
    nodes: int | None,
    foreground: bool,  # noqa: FBT001  # click's
    is_merging: bool,  # noqa: FBT001
    without_kubevirt: bool,  # noqa: FBT001
    separate: bool | None,  # noqa: FBT001
    progress: str,
) -> int:
    """Bring up a Kubernetes with KubeVirt on this machine, in one process.

    Its state is kept in a folder and found again at the next start. Pods that run when the process is
    killed go on, and are found again, too.
    """
    folder = folder.absolute()
    home = Home(folder)
    wishes = Wishes(
        home=folder,
        port=port,
        nodes=nodes,
        has_kubevirt=not without_kubevirt,
        is_separate=separate,
        archives=guests.archives(os.environ),
    )
    check(wishes)
    if home.is_there and home.is_running:
        return _is_up(home, wishes, is_to_stay=foreground, is_merging=is_merging)
    told = steps.listener(progress)
    if foreground:
        return _stay(wishes, told, is_merging=is_merging)
    from kubevirt.embedded.process import daemon  # noqa: PLC0415  # not needed to say that it is up

    came_out = daemon.start(wishes, told, os.environ)
    told.hear(came_out)
    if isinstance(came_out, Failed):
        return _failed(came_out)
    _greet(came_out, is_merging=is_merging)
    return exit_codes.OK


def _is_up(home: Home, wishes: Wishes, *, is_to_stay: bool, is_merging: bool) -> int:
    found = home.process
    if found and found.is_ending:
        click.echo(
            f"virtctl: {home.path} is going down, and pods are given the time to end that they are promised; "
            "bring it up when that is done",
            err=True,
        )
        return exit_codes.CONFLICT
    where = f" at {found.url}" if found else ", or about to be"
    stop = f"virtctl down{_where(home)}"
    click.echo(f"{home.path} is up already{where}; stop it with: {stop}", err=True)
    if found:  # else whoever brings it up does the rest
        options = [*unmet(wishes, found, home.choices), *(["--foreground"] if is_to_stay else [])]
        _tell_of_unmet(home, options, lacks_kubevirt=wishes.has_kubevirt and not found.has_kubevirt)
        if is_merging:
            _merge(home.kubeconfig)
    return exit_codes.OK


def _tell_of_unmet(home: Home, options: Sequence[str], *, lacks_kubevirt: bool) -> None:
    words = " ".join(options)
    if words:
        what = f"{words} came to nothing; to have that"
    elif lacks_kubevirt:
        what = "it has no virtual machines; to have them"
    else:
        return
    stop, start = (f"virtctl {each}{_where(home)}" for each in ("down", "up"))
    click.echo(
        f"virtctl: a home that is up stays as it was started, so {what}: {stop}, then {start} {words}".rstrip(),
        err=True,
    )


def _where(home: Home) -> str:
    return "" if home.is_default else f" --home {home.path}"


def _stay(wishes: Wishes, told: Listener, *, is_merging: bool) -> int:
    from kubevirt.embedded.process import main  # noqa: PLC0415  # all parts of a Kubernetes

    greeting = _Greeting(told, is_merging=is_merging)
    main.run(wishes, greeting, is_apart=False)
    return greeting.code


class _Greeting:
    """Shows steps as they come, and greets when all are done."""

    def __init__(self, told: Listener, *, is_merging: bool) -> None:
        self.code = exit_codes.OK
        self._told = told
        self._is_merging = is_merging

    def hear(self, event: Event) -> None:
        self._told.hear(event)
        if isinstance(event, Ready):
            _greet(event, is_merging=self._is_merging)
        elif isinstance(event, Failed):
            self.code = _failed(event)


def _failed(event: Failed) -> int:
    click.echo(f"virtctl: {event.message}", err=True)
    return exit_codes.of(event.reason)


def _greet(ready: Ready, *, is_merging: bool) -> None:
    is_merged = is_merging and _merge(Path(ready.kubeconfig))
    how = "--context kubevirt" if is_merged else f"--kubeconfig {ready.kubeconfig}"
    click.echo(f"up in {ready.took_s:.1f} s at {ready.url}\n", err=True)
    home = Home(Path(ready.kubeconfig).parent)
    where = _where(home)
    click.echo(
        f"  kubectl {how} get nodes\n  virtctl status{where}\n  virtctl down{where}", err=True
    )


def _merge(own: Path) -> bool:
    from kubevirt.embedded.process import kubeconfig  # noqa: PLC0415  # YAML, only now

    try:
        kubeconfig.merge(kubeconfig.user_file(os.environ), own)
    except UserError as error:
        click.echo(f"virtctl: {error}", err=True)
        return False
    return True
