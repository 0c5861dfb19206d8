"""The informer of the `kubernetes` package on custom objects, which it holds as dictionaries.

Its informer expects a list with attributes, and its API for custom objects returns a dictionary: the
function below stands between them, as it does in any program that uses both. It also counts what was
listed, because the informer does not say when it has seen everything.
"""

import threading
from types import SimpleNamespace
from typing import Any

from kubernetes import client, config
from kubernetes.informer import ADDED, MODIFIED, SharedInformer

from bench.protocol import Stopwatch, arguments, settle, tell, wait_for_driver


class Collection:
    """All VMIs, as a function that lists and watches them."""

    def __init__(self, list_at: str) -> None:
        self.listed: int | None = None
        self._api = client.CustomObjectsApi()
        self._past = {}
        if list_at:
            self._past = {"resource_version": list_at, "resource_version_match": "Exact"}

    def read(self, **options: Any) -> Any:
        """The watch finds out by this line what to decode an object to.

        :return: object
        """
        where = ("kubevirt.io", "v1", "virtualmachineinstances")
        if options.get("watch"):
            return self._api.list_cluster_custom_object(*where, **options)
        answer = self._api.list_cluster_custom_object(*where, **options, **self._past)
        self.listed = len(answer["items"])
        version = SimpleNamespace(resource_version=answer["metadata"]["resourceVersion"])
        return SimpleNamespace(items=answer["items"], metadata=version)


class Progress:
    """Counts what handlers hear, and says when it was everything."""

    def __init__(self, collection: Collection, last: str) -> None:
        self.added = 0
        self.updates = 0
        self.synced = threading.Event()
        self.caught_up = threading.Event()
        self._collection = collection
        self._last = last

    def on_added(self, _: Any) -> None:
        self.added += 1
        if self.added == self._collection.listed:
            self.synced.set()

    def on_modified(self, vmi: Any) -> None:
        self.updates += 1
        if vmi["metadata"]["resourceVersion"] == self._last:
            self.caught_up.set()


def main() -> None:
    asked = arguments(__doc__ or "").parse_args()
    config.load_kube_config(asked.kubeconfig)
    client.VersionApi().get_code()
    collection = Collection(asked.list_at)
    progress = Progress(collection, asked.until)
    informer = SharedInformer(collection.read)
    informer.add_event_handler(ADDED, progress.on_added)
    informer.add_event_handler(MODIFIED, progress.on_modified)
    settle()
    tell("ready")
    wait_for_driver()
    stopwatch = Stopwatch()
    informer.start()
    progress.synced.wait()
    tell("synced", objects=len(informer.cache.list_keys()), **stopwatch.read())
    if asked.until:
        stopwatch = Stopwatch()
        progress.caught_up.wait()
        tell("followed", events=progress.updates, **stopwatch.read())
    else:
        settle()
        tell("settled")
        wait_for_driver()
    # Not `informer.stop()`: it joins a thread that may wait in a read.


if __name__ == "__main__":
    main()
