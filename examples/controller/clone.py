"""Clones ConfigMaps labelled `clone=yes` into another namespace: python clone.py FROM TO."""

import os
import sys

from kubevirt.api.scheme import CONFIG_MAPS
from kubevirt.base.clock import SystemClock
from kubevirt.base.tasks import first_of, run
from kubevirt.kube.access import default_config
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, Result
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import Apply


async def clone(source: str, target: str) -> None:
    clock, me = SystemClock(), "clone-example"
    async with Client(default_config.find(os.environ)) as client:
        maps = Informer(client, CONFIG_MAPS, clock=clock, label_selector="clone=yes")

        async def reconcile(name: str) -> Result:
            original, copy = maps.get(Key(source, name)), maps.get(Key(target, name))
            if original is None and copy is not None:
                await client.delete(CONFIG_MAPS, name, target, uid=copy.metadata.uid)
            elif original is not None and (copy is None or copy.data != original.data):
                body = Apply({"metadata": {"labels": {"clone": "yes"}}, "data": original.data})
                await client.patch(CONFIG_MAPS, name, body, target, field_manager=me, force=True)
            return DONE

        controller = Controller(me, reconcile, clock=clock)
        controller.watch(maps, lambda change: [change.key.name])
        await first_of(maps.run(), controller.run())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run(clone(*sys.argv[1:]))
