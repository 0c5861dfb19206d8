"""The provider `external`: the cluster that the current kubeconfig names. It is only asked whether
it answers.
"""

import json
import os
import shutil

from clusterup import errors, processes


async def describe() -> str:
    """A sentence about the cluster; raises where there is none that answers."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise errors.Missing(
            "the program kubectl is not on PATH, and with KUBE_PROVIDER=external it is how the "
            "cluster is reached; install it"
        )
    answer = await processes.run(
        *(kubectl, "version", "-o", "json", "--request-timeout=10s"), env=os.environ, check=False
    )
    if answer.code:
        raise errors.ClusterError(
            "the cluster of your kubeconfig does not answer, so there is nothing to work with; "
            f"check KUBECONFIG and the current context: {answer.stderr.strip()}"
        )
    version = json.loads(answer.stdout)["serverVersion"]["gitVersion"]
    context = (
        await processes.run(kubectl, "config", "current-context", env=os.environ, check=False)
    ).stdout.strip()
    return f"the cluster of context {context or '(none)'} answers: Kubernetes {version}"
