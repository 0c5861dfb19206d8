"""The picture: what is known of the guest at this moment, put together from several sources.

libvirt tells the state and the devices, the agent what the guest sees of itself. Whoever learns something new
puts it in; the whole goes to the handler, which hears of changes only.
"""

from msgspec.structs import replace

from kubevirt.components.launcher.ending import Ending
from kubevirt.components.launcher.notifier import Notifier
from kubevirt.components.launcher.settings import Settings
from kubevirt.rpc import reports


class Picture:
    def __init__(self, settings: Settings, notifier: Notifier) -> None:
        identity = reports.ObjectMeta(
            name=settings.name, namespace=settings.namespace, uid=settings.uid
        )
        self._report = reports.Domain(object_meta=identity)
        self._notifier = notifier
        self.exists = False
        """Whether there is anything to see."""

    @property
    def report(self) -> reports.Domain:
        return self._report

    def saw(self, spec: reports.Spec, state: str, reason: str, resets: int = 0) -> None:
        """The domain as libvirt has it now, which is not from before the last of these resets."""
        self.exists = True
        status = replace(self._report.status, status=state, reason=reason, resets=resets)
        self._show(replace(self._report, spec=spec, status=status))

    def agent_told(
        self,
        interfaces: tuple[reports.InterfaceStatus, ...],
        os_info: reports.OsInfo,
        *,
        is_frozen: bool,
        commands: tuple[str, ...] | None,
    ) -> None:
        """All that the agent knows, or nothing if it is away."""
        status = replace(
            self._report.status,
            interfaces=interfaces,
            os_info=os_info,
            fs_freeze_status=reports.Freeze(status=reports.FROZEN if is_frozen else ""),
            agent_commands=commands,
        )
        self._show(replace(self._report, status=status))

    def ended(self, ending: Ending) -> None:
        """The last one."""
        status = replace(
            self._report.status,
            status=ending.state,
            reason=ending.reason,
            message=ending.sentence,
        )
        self._report = replace(self._report, status=status)
        self._notifier.gone(self._report)

    def _show(self, report: reports.Domain) -> None:
        self._report = report
        if self.exists:
            self._notifier.report(report)
