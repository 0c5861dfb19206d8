"""A whole cluster: up, and down again without a trace.

Up is a handful of steps that wait for nothing they do not need: machines and their network, then
the control plane, the registry and the nodes side by side. Down does not read what up wrote; it
ends everything in the cluster's cgroups, and what lived in namespaces goes with it.
"""

import asyncio
import contextlib
import dataclasses
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from clusterup import (
    api,
    binaries,
    cgroups,
    components,
    controlplane,
    dns,
    errors,
    images,
    kubeconfigs,
    machines,
    network,
    nodes,
    pki,
    preflight,
    progress,
    registry,
    settings,
    state,
    syncing,
    waiting,
)

PROGRAMS = (
    *("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "coredns"),
    *nodes.PROGRAMS,
)
_READY_LIMIT_S = 300.0
"""A busy machine; the usual time is ten to twenty seconds."""
_ADMIN = "kubernetes-admin"


class Cluster:
    """One cluster by its settings, running or not."""

    def __init__(self, chosen: settings.Settings, say: progress.Progress) -> None:
        self._settings = chosen
        self._say = say
        self._home = chosen.home
        self._tree = cgroups.Tree(chosen.name)
        self._programs = binaries.Binaries(chosen.provider_folder, chosen.cache)
        self._running: list[machines.Running] = []

    async def up(self) -> state.State:
        """Start it; whatever goes wrong on the way, nothing but the logs is left."""
        preflight.check(self._home, self._programs, PROGRAMS)
        self._refuse_if_there()
        await self._programs.ensure(PROGRAMS, self._say)
        with state.only_one(self._home):
            self._refuse_if_there()
            shutil.rmtree(self._logs, ignore_errors=True)
            try:
                return await self._start()
            except BaseException as error:
                self._save_logs()
                await self._clean_up()
                if isinstance(error, errors.ClusterError):
                    raise errors.ClusterError(
                        f"{error}\nlogs of the attempt: {self._logs}"
                    ) from error
                raise

    async def down(self) -> bool:
        """Stop it; say whether there was anything to stop. Safe to repeat, also after a crash."""
        if os.geteuid() != 0:
            raise errors.Missing(
                "you are not root, and the cluster is root's; run `sudo make cluster-down`"
            )
        links = await network.links_of(self._settings.name)
        there = self._home.exists() or self._tree.exists() or bool(links)
        if there:
            with state.only_one(self._home):
                async with self._say.step(f"stopping {self._settings.name}"):
                    await self._clean_up()
        shutil.rmtree(self._logs, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._home.parent.rmdir()
        return there

    def machine(self, name: str) -> machines.Machine:
        """A machine of the running cluster, to be entered."""
        found = state.read(self._home)
        known = [machines.CONTROL_PLANE, *(found.nodes if found else [])]
        if found is None or name not in known:
            there = (
                f"there are {', '.join(known)}"
                if found
                else "no cluster is up; run `make cluster-up`"
            )
            raise errors.ClusterError(f"there is no machine {name} to enter: {there}")
        machine = machines.Machine(name, self._home / name, self._tree)
        machine.pid = int((machine.folder / "pid").read_text())
        return machine

    async def sync(self) -> None:
        """Bring KubeVirt of this checkout into it."""
        found = state.read(self._home)
        if found is None or found.phase != state.UP:
            raise errors.ClusterError(
                f"no cluster {self._settings.name} is up that KubeVirt could be brought into; "
                "start it with `make cluster-up`, as root"
            )
        with state.only_one(self._home):
            control = self.machine(machines.CONTROL_PLANE)
            members = [self.machine(name) for name in found.nodes]
            await syncing.Sync(self._settings, found, control, members, self._say).run()

    # Up.

    @property
    def _logs(self) -> Path:
        return self._home.with_name(self._home.name + ".failed")

    def _refuse_if_there(self) -> None:
        found = state.read(self._home)
        if found and found.phase == state.UP and self._tree.processes():
            raise errors.AlreadyUp(
                f"the cluster {self._settings.name} is up already with {len(found.nodes)} "
                f"node(s); use it with cluster-up/kubectl.sh, or end it with `make cluster-down`"
            )
        if found or self._tree.exists():
            raise errors.ClusterError(
                f"the cluster {self._settings.name} was left half way by an earlier run; "
                "clear it away with `make cluster-down` and start again"
            )

    async def _start(self) -> state.State:
        async with network.claim():
            plan = await network.choose(self._settings.nodes)
            control = machines.control_plane(self._tree, self._home)
            plane = self._plane(plan)
            found = self._describe(plan, plane)
            state.write(self._home, found)
            plane.prepare()
            admin = self._write_admin(plane)
            all_nodes = self._nodes(plan, plane)
            async with self._say.step(f"making {plan.nodes} node(s) and their network"):
                await self._make_machines(plan, control, all_nodes)
        async with self._say.step("starting the control plane"):
            await waiting.together(
                self._start_registry(control, plan),
                self._start_control_plane(control, plane, admin),
            )
        async with self._say.step("starting the nodes"):
            await self._start_nodes(plan, control, plane, admin, all_nodes)
        found = dataclasses.replace(found, phase=state.UP)
        state.write(self._home, found)
        return found

    def _nodes(self, plan: network.Plan, plane: controlplane.ControlPlane) -> list[nodes.Node]:
        return [
            nodes.Node(
                index=index,
                machine=machines.Machine(name, self._home / name, self._tree),
                plan=plan,
                trust=plane.trust,
                programs=self._programs,
                server=plane.url,
            )
            for index, name in enumerate(_names(plan.nodes), start=1)
        ]

    def _plane(self, plan: network.Plan) -> controlplane.ControlPlane:
        folder = self._home / machines.CONTROL_PLANE
        folder.mkdir(parents=True, exist_ok=True)
        return controlplane.ControlPlane(
            programs=self._programs,
            trust=pki.Pki.create(
                folder / "pki", server_names=[plan.control_plane, controlplane.SERVICE_API]
            ),
            folder=folder,
            address=plan.control_plane,
            port=6443,
            etcd_port=2379,
            etcd_peer_port=2380,
            manager_port=10257,
            scheduler_port=10259,
            publishes_itself=True,
            aggregator_routing=True,
        )

    def _describe(self, plan: network.Plan, plane: controlplane.ControlPlane) -> state.State:
        return state.State(
            phase=state.STARTING,
            provider=self._settings.provider,
            nodes=_names(plan.nodes),
            network=plan.number,
            kubeconfig=str(self._home / "kubeconfig"),
            server=plane.url,
            registry=registry.address(plan),
            audit_log=str(plane.audit_log),
        )

    def _write_admin(self, plane: controlplane.ControlPlane) -> api.Api:
        config = kubeconfigs.with_certificate(
            self._home / "kubeconfig",
            server=plane.url,
            authority=plane.trust.ca_file.read_bytes(),
            client=plane.trust.authority().client(_ADMIN, [pki.ADMIN_GROUP]),
        )
        (self._home / "kubectl").symlink_to(self._programs.path("kubectl"))
        return api.Api(config)

    async def _make_machines(
        self, plan: network.Plan, control: machines.Machine, all_nodes: list[nodes.Node]
    ) -> None:
        for node in all_nodes:
            node.write_files()
        seen = [self._programs.path("kubelet").parent.parent, *components.folders()]
        await waiting.together(
            machines.start_control_plane(control),
            *(machines.start_node(node.machine, seen) for node in all_nodes),
        )
        members = [node.machine for node in all_nodes]
        await network.connect(plan, self._settings.name, control, members)
        self._running.extend(node.start_runtime() for node in all_nodes)

    async def _start_registry(self, control: machines.Machine, plan: network.Plan) -> None:
        self._running.append(registry.start(control, plan))
        await self._wait(
            lambda: _listens(plan.control_plane, registry.PORT), "the registry listens"
        )
        program = self._programs.path("pause").read_bytes()
        pause = images.build({"pause": images.File(program)}, ["/pause"])
        await images.push(registry.address(plan), images.PAUSE, pause)

    async def _start_control_plane(
        self, control: machines.Machine, plane: controlplane.ControlPlane, admin: api.Api
    ) -> None:
        manager, scheduler = (
            plane.trust.kubeconfig(
                plane.trust.folder / f"{name}.kubeconfig",
                server=plane.url,
                user=f"system:kube-{name}",
            )
            for name in ("controller-manager", "scheduler")
        )
        self._running.append(control.spawn("etcd", plane.etcd()))
        await self._wait(lambda: control.listens(plane.etcd_port), "etcd listens")
        self._running.append(control.spawn("kube-apiserver", plane.apiserver()))
        await self._wait(admin.is_ready, "the API server is ready")
        # Not earlier: the one ends by itself when the API server takes more than ten seconds, the
        # other is refused before the roles are there, and then waits to try again.
        for name, argv in (
            ("kube-controller-manager", plane.controller_manager(manager)),
            ("kube-scheduler", plane.scheduler(scheduler)),
        ):
            self._running.append(control.spawn(name, argv))

    async def _start_nodes(
        self,
        plan: network.Plan,
        control: machines.Machine,
        plane: controlplane.ControlPlane,
        admin: api.Api,
        all_nodes: list[nodes.Node],
    ) -> None:
        for node in all_nodes:
            await self._wait(node.has_runtime, f"the container runtime of {node.name} listens")
            self._running.extend(node.start())
        for thing in (_kubelet_access(), *dns.objects(plan)):
            await admin.apply(thing)
        self._running.append(dns.start(control, plan, plane.trust, self._programs, plane.url))
        names = [node.name for node in all_nodes]

        async def ready() -> bool:
            return nodes.all_ready(await admin.get("/api/v1/nodes"), names)

        await self._wait(ready, f"{', '.join(names)} Ready")
        await self._wait(
            lambda: _listens(plan.control_plane, dns.READY_PORT), "the cluster's DNS listens"
        )
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        await self._wait(lambda: admin.exists(account), "the first service account")
        for name in names:
            roles = ["worker", "control-plane"] if name == names[0] else ["worker"]
            labels = {f"node-role.kubernetes.io/{role}": "" for role in roles}
            await admin.merge(f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})

    async def _wait(self, probe: Callable[[], Awaitable[bool]], what: str) -> None:
        async def alive_and_probe() -> bool:
            for program in self._running:
                program.check()
            return await probe()

        await waiting.until(alive_and_probe, limit_s=_READY_LIMIT_S, what=what)

    # Down.

    async def _clean_up(self) -> None:
        await self._tree.end()
        await network.remove_links(self._settings.name)

        async def links_are_gone() -> bool:
            return not await network.links_of(self._settings.name)

        # A namespace is taken apart by the kernel a moment after its last process.
        await waiting.until(links_are_gone, limit_s=_READY_LIMIT_S, what="the cluster's links go")
        await asyncio.to_thread(_remove, self._home)

    def _save_logs(self) -> None:
        for folder in self._home.glob("*/logs"):
            shutil.copytree(folder, self._logs / folder.parent.name, dirs_exist_ok=True)


def _names(count: int) -> list[str]:
    return [machines.node_name(index) for index in range(1, count + 1)]


def _kubelet_access() -> dict[str, object]:
    """Let the API server read logs and run commands through the kubelets."""
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "cluster-up:kube-apiserver"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "system:kubelet-api-admin"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "kube-apiserver-kubelet-client"}],
    }


async def _listens(address: str, port: int) -> bool:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(2):
            _, writer = await asyncio.open_connection(address, port)
        writer.close()
        return True
    return False


def _remove(home: Path) -> None:
    """Remove a cluster's folder, unless something is mounted below it: removing would reach into
    what is mounted.
    """
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    if below := [mount for mount in mounts if Path(mount).is_relative_to(home)]:
        raise errors.ClusterError(
            f"{below[0]} is still mounted below {home}, so the folder was not removed; "
            f"run `umount {below[0]}` and then `make cluster-down` again"
        )
    shutil.rmtree(home)
