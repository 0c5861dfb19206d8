"""What the tests of whole clusters share: the scripts as a person calls them, an image, and a look
for anything a cluster could have left behind.
"""

import json
import os
import shutil
import subprocess
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterup import binaries, cgroups, errors, images, processes, settings, waiting

SCRIPTS = settings.PROVIDERS
LIMIT_S = 400.0
"""To end a hang: a start of a whole cluster takes twenty seconds, and on a busy machine minutes."""
TOOLS = "quay.io/cluster-up/tools:1"
"""The image the tests run: busybox under all the names they call it by."""


@dataclass
class Provider:
    """The scripts as a person calls them, for a cluster of the test's own name."""

    environment: Mapping[str, str]
    name: str

    @property
    def home(self) -> Path:
        return Path(self.environment["KUBEVIRT_CLUSTER_UP_HOME"]) / self.name

    async def run(
        self, script: str, *words: str, stdin: str = "", **more: str
    ) -> processes.Outcome:
        return await processes.run(
            SCRIPTS / script,
            *words,
            stdin=stdin,
            check=False,
            limit_s=LIMIT_S,
            env={**self.environment, **more},
        )

    async def kubectl(self, *words: str, stdin: str = "") -> str:
        outcome = await self.run("kubectl.sh", *words, stdin=stdin)
        assert outcome.code == 0, outcome.stderr
        return outcome.stdout

    async def info(self) -> dict[str, Any]:
        outcome = await self.run("cli.sh", "info")
        assert outcome.code == 0, outcome.stderr
        found: dict[str, Any] = json.loads(outcome.stdout)
        return found

    async def apply(self, *objects: dict[str, Any]) -> None:
        listing = {"apiVersion": "v1", "kind": "List", "items": objects}
        await self.kubectl("apply", "-f", "-", stdin=json.dumps(listing))

    async def until_ready(self, namespace: str, *pods: str) -> None:
        names = [f"pod/{name}" for name in pods]
        await self.kubectl(
            "wait", "-n", namespace, "--for=condition=Ready", "--timeout=300s", *names
        )

    async def inside(self, namespace: str, pod: str, script: str) -> str:
        return await self.kubectl("exec", "-n", namespace, pod, "--", "sh", "-c", script)

    async def eventually(self, namespace: str, pod: str, script: str, expected: str) -> None:
        """Run a script in a pod until it prints what is expected: proxies and DNS learn of a new
        service a moment after it was made.
        """

        async def prints_it() -> bool:
            words = ("exec", "-n", namespace, pod, "--", "sh", "-c", script)
            return expected in (await self.run("kubectl.sh", *words)).stdout

        await waiting.until(prints_it, limit_s=LIMIT_S, what=f"`{script}` prints {expected!r}")

    async def until_logged(self, namespace: str, pod: str, expected: str) -> None:
        """Until that is all a pod has printed: one that is ready may not have come to it yet."""

        async def is_logged() -> bool:
            return await self.kubectl("logs", "-n", namespace, pod) == expected

        await waiting.until(is_logged, limit_s=LIMIT_S, what=f"{expected!r} in the log of {pod}")


def make_provider(folder: Path, *, nodes: int = 1) -> Provider:
    name = f"test-{uuid.uuid4().hex[:8]}"
    environment = {
        **os.environ,
        "KUBE_PROVIDER": settings.KUBERNETES,
        "KUBEVIRT_CLUSTER_NAME": name,
        "KUBEVIRT_CLUSTER_UP_HOME": str(folder),
        "KUBEVIRT_NUM_NODES": str(nodes),
    }
    return Provider(environment, name)


def tools_image() -> images.Image:
    """Busybox from the host under the names of the applets that the tests use, and our probe."""
    found = shutil.which("busybox")
    assert found, "install the package busybox-static"
    programs = binaries.Binaries(
        settings.PROVIDERS / settings.KUBERNETES, settings.cache_folder(os.environ)
    )
    files = {
        "bin/busybox": images.File(Path(found).read_bytes()),
        "bin/probe": images.File(programs.path("probe").read_bytes()),
        "disk/disk.img": images.File(b"a disk\n", mode=0o644),
    }
    for name in (
        "sh",
        "sleep",
        "cat",
        "echo",
        "nslookup",
        "mount",
        "ls",
        "hostname",
        "stty",
        "grep",
    ):
        files[f"bin/{name}"] = images.File(link="busybox")
    return images.build(files, ["/bin/sh", "-c", "sleep 100000"])


def pod(namespace: str, name: str, script: str, **spec: Any) -> dict[str, Any]:
    """A pod that runs a shell script in the test image and ends at once when told to."""
    container = {"name": "main", "image": TOOLS, "command": ["/bin/sh", "-c", script]}
    container |= spec.pop("container", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec},
    }


def service(namespace: str, name: str, **spec: Any) -> dict[str, Any]:
    """A service for the pod of the same name, port 80."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}], **spec},
    }


async def bring_down(provider: Provider, before: Mapping[str, str]) -> None:
    """Stop a cluster, and find nothing of it or of its pods on the machine, whose kernel is set as it was before."""
    had = namespaces(provider)
    outcome = await provider.run("down.sh")
    assert outcome.code == 0, outcome.stderr
    await until_nothing_is_left(provider, had)
    # Some may have come meanwhile, with a module of the kernel that somebody needed.
    assert before.items() <= kernel_settings().items()


async def until_nothing_is_left(provider: Provider, had: Collection[str] = ()) -> None:
    """Wait a moment: orphans are reaped by the machine's first process when it gets to it."""

    async def nothing() -> bool:
        return leftovers(provider, had) == []

    try:
        await waiting.until(nothing, limit_s=60, what="the machine is clean", every_s=0.2)
    except errors.Broken:
        assert leftovers(provider, had) == []
        raise


def namespaces(provider: Provider) -> frozenset[str]:
    """Those of all that runs in a cluster, pods included, but for the machine's own: `net:[4026532001]`."""
    processes_of_it = cgroups.Tree(provider.name).processes()
    return frozenset(
        name for pid in processes_of_it for name in _namespaces(str(pid))
    ) - _namespaces("self")


def leftovers(provider: Provider, had: Collection[str] = ()) -> list[str]:
    """Everything that is still on this machine of one cluster; `had` are the namespaces in which it was."""
    mark = provider.name.encode()
    found = [f"folder {path}" for path in (provider.home,) if path.exists()]
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (
                mark in (entry / "cmdline").read_bytes()
                or not _namespaces(entry.name).isdisjoint(had)
            ):
                found.append(f"process {(entry / 'cmdline').read_bytes()!r}")
        except OSError:
            continue
    for hierarchy in cgroups.hierarchies():
        found += [
            f"cgroup {path}" for path in hierarchy.mount.glob(f"{cgroups.TOP}/{provider.name}")
        ]
    links = json.loads(_output("ip", "-json", "link"))
    found += [f"link {one['ifname']}" for one in links if provider.name in one.get("ifalias", "")]
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    # A namespace that is mounted lives on without a process.
    signs = (provider.name, *had)
    found += [f"mount {line}" for line in mounts if any(sign in line for sign in signs)]
    found += [
        # By its own name: an embedded home of somebody else has a table here too.
        f"nft {line}"
        for line in _output("nft", "list", "tables").splitlines()
        if "kube-proxy" in line
    ]
    return found


def _namespaces(pid: str) -> frozenset[str]:
    """Of a process; none if it has ended."""
    try:
        return frozenset(str(each.readlink()) for each in Path("/proc", pid, "ns").iterdir())
    except OSError:
        return frozenset()


def _output(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def kernel_settings() -> dict[str, str]:
    """Settings of the whole machine that programs of a cluster would like to be others."""
    names = (
        *("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops"),
        *("kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "kernel/hostname"),
        *("net/ipv4/ip_forward", "net/ipv4/conf/all/rp_filter", "net/netfilter/nf_conntrack_max"),
    )
    return {
        name: Path("/proc/sys", name).read_text()
        for name in names
        if Path("/proc/sys", name).exists()
    }
