"""The commands behind `make cluster-up`, `make cluster-down` and the scripts beside this package.

Exit codes: 0 done, 1 it did not work and one sentence says why, 2 the command line is wrong,
3 the cluster is up already.
"""

import argparse
import asyncio
import dataclasses
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TypeVar

from clusterup import (
    binaries,
    cluster,
    embedded,
    errors,
    external,
    light,
    machines,
    progress,
    settings,
    state,
)

FAILED = 1
ALREADY_UP = 3
EXTERNAL = "external"

T = TypeVar("T")


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        chosen = settings.from_environment(os.environ)
        _check_provider(chosen)
        command: Callable[[settings.Settings, argparse.Namespace], None] = arguments.command
        command(chosen, arguments)
    except errors.AlreadyUp as error:
        print(f"cluster-up: {error}", file=sys.stderr)
        return ALREADY_UP
    except errors.ClusterError as error:
        print(f"cluster-up: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("cluster-up: interrupted; what was started has been ended again", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clusterup", description="A Kubernetes to test on; see docs/cluster-up.md."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, text in (
        ("up", _up, "start the cluster"),
        ("sync", _sync, "bring KubeVirt of this checkout into it"),
        ("down", _down, "stop it and leave nothing behind"),
        ("ls", _list, "show the machines of the cluster"),
        ("info", _info, "print addresses and files of the cluster as JSON"),
    ):
        commands.add_parser(name, help=text).set_defaults(command=command)
    build = commands.add_parser("build", help="build the programs into the cache")
    build.add_argument("--light", action="store_true", help="only those of the light cluster")
    build.set_defaults(command=_build)
    ssh = commands.add_parser("ssh", help="enter a machine, or run a command in it")
    ssh.add_argument("machine")
    ssh.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND")
    ssh.set_defaults(command=_ssh)
    kubectl = commands.add_parser("kubectl", help="print where the kubectl is that is built here")
    kubectl.set_defaults(command=_kubectl)
    logs = commands.add_parser("logs", help="show the log of a program, or which logs there are")
    logs.add_argument("machine", nargs="?")
    logs.add_argument("program", nargs="?")
    logs.add_argument("-f", "--follow", action="store_true", help="go on as the log grows")
    logs.set_defaults(command=_logs)
    return parser


def _check_provider(chosen: settings.Settings) -> None:
    built = [path.parent.name for path in sorted(settings.PROVIDERS.glob("*/provider.toml"))]
    known = [settings.EMBEDDED, *built, EXTERNAL]
    if chosen.provider not in known:
        raise errors.ClusterError(
            f"KUBE_PROVIDER={chosen.provider} names no provider, so there is nothing to start; "
            f"known are {', '.join(known)}"
        )


def _up(chosen: settings.Settings, _arguments: argparse.Namespace) -> None:
    say = progress.Progress("cluster-up")
    if chosen.provider == EXTERNAL:
        say.say(_run(external.describe()))
        return
    if chosen.provider == settings.EMBEDDED:
        embedded.up(chosen)
        return
    _run(cluster.Cluster(chosen, say).up())
    say.say(f"{chosen.name} is up: {chosen.nodes} node(s); try cluster-up/kubectl.sh get nodes")


def _sync(chosen: settings.Settings, _arguments: argparse.Namespace) -> None:
    say = progress.Progress("cluster-sync")
    if chosen.provider == EXTERNAL:
        raise errors.ClusterError(
            "KubeVirt is not brought into clusters that cluster-up did not start; see docs/installing.md"
        )
    if chosen.provider == settings.EMBEDDED:
        embedded.sync(chosen, say)
        return
    _run(cluster.Cluster(chosen, say).sync())


def _down(chosen: settings.Settings, _arguments: argparse.Namespace) -> None:
    say = progress.Progress("cluster-down")
    if chosen.provider == EXTERNAL:
        say.say("the cluster of your kubeconfig was not started by cluster-up and is left alone")
        return
    if chosen.provider == settings.EMBEDDED:
        embedded.down(chosen)
        return
    if not _run(cluster.Cluster(chosen, say).down()):
        say.say(f"no cluster {chosen.name} is up")


def _list(chosen: settings.Settings, _arguments: argparse.Namespace) -> None:
    if chosen.provider == settings.EMBEDDED:
        for node, condition in embedded.nodes(chosen):
            print(f"{node:<16}{condition}")
        return
    found = _found(chosen)
    whole = cluster.Cluster(chosen, progress.Progress("cluster-up"))
    for name in [machines.CONTROL_PLANE, *found.nodes]:
        print(f"{name:<16}{_condition(whole.machine(name))}")


def _condition(machine: machines.Machine) -> str:
    running = len(machine.tree.processes(machine.name))
    return f"running, {running} processes" if running else "not running"


def _info(chosen: settings.Settings, _arguments: argparse.Namespace) -> None:
    if chosen.provider == settings.EMBEDDED:
        print(json.dumps(embedded.info(chosen), indent=2))
        return
    print(json.dumps(dataclasses.asdict(_found(chosen)), indent=2))


def _build(chosen: settings.Settings, arguments: argparse.Namespace) -> None:
    if chosen.provider in {EXTERNAL, settings.EMBEDDED}:
        raise errors.ClusterError(f"the {chosen.provider} provider has no programs to build")
    programs = binaries.Binaries(chosen.provider_folder, chosen.cache)
    wanted = light.PROGRAMS if arguments.light else programs.all_programs()
    _run(programs.ensure(wanted, progress.Progress("cluster-up")))


def _ssh(chosen: settings.Settings, arguments: argparse.Namespace) -> None:
    words = [word for index, word in enumerate(arguments.words) if index or word != "--"]
    words = words or [shutil.which("bash") or "/bin/sh"]
    if chosen.provider == settings.EMBEDDED:
        command = embedded.inside(chosen, arguments.machine, words)
    else:
        whole = cluster.Cluster(chosen, progress.Progress("cluster-up"))
        command = whole.machine(arguments.machine).inside(words)
    os.chdir("/")
    os.execvp(command[0], command)  # noqa: S606  # to become it is the point


def _logs(chosen: settings.Settings, arguments: argparse.Namespace) -> None:
    logs = _all_logs(chosen)
    if arguments.program is None:
        for machine, program in sorted(logs):
            if arguments.machine in {None, machine}:
                print(f"{machine:<16}{program}")
        return
    path = logs.get((arguments.machine, arguments.program))
    if path is None:
        raise errors.ClusterError(
            f"there is no log of {arguments.program} on {arguments.machine}; "
            "`cluster-up/cli.sh logs` shows which there are"
        )
    _print(path, follow=arguments.follow)


def _all_logs(chosen: settings.Settings) -> dict[tuple[str, str], Path]:
    """By machine and program."""
    if chosen.provider == settings.EMBEDDED:
        return embedded.logs(chosen)
    _found(chosen)
    return {(path.parent.parent.name, path.stem): path for path in chosen.home.glob("*/logs/*.log")}


def _kubectl(chosen: settings.Settings, _arguments: argparse.Namespace) -> None:
    if chosen.provider != settings.EMBEDDED:
        raise errors.ClusterError("this is for the embedded provider; use cluster-up/kubectl.sh")
    print(_run(embedded.kubectl(chosen, progress.Progress("cluster-up"))))


def _print(path: Path, *, follow: bool) -> None:
    command = ["tail", "-n", "+1", *(["-f"] if follow else []), str(path)]
    os.execvp(command[0], command)  # noqa: S606


def _found(chosen: settings.Settings) -> state.State:
    if chosen.provider == EXTERNAL:
        raise errors.ClusterError("the machines of an external cluster are not known to cluster-up")
    found = state.read(chosen.home)
    if found is None:
        raise errors.ClusterError(
            f"no cluster {chosen.name} is up; start it with `make cluster-up`"
        )
    return found


def _run(work: Coroutine[object, object, T]) -> T:
    async def until_told_to_stop() -> T:
        # A terminated `make` must clean up like an interrupted one.
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, task.cancel)
        return await work

    try:
        return asyncio.run(until_told_to_stop())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
