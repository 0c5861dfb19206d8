"""KubeVirt in Python: virtual machines as Kubernetes objects.

The layers, lowest first: `base`, `api`, `virt`, `kube`/`host`/`rpc`, `components`/`apiserver`,
`embedded`, `cli`/`web`. Imports go downwards only; ARCHITECTURE.md tells the story.
"""

__version__ = "0.1.0.dev0"
