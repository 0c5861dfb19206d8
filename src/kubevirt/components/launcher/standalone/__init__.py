"""A guest without a cluster: `virt-launcher --standalone vmi.yaml`, by root on a plain machine.

The outer process plays all that a pod stands on: it is API server (`manifest`), kubelet (`folders`, `mounts`,
`images`, `sandbox`), network plugin (`network`) and handler (`running`). The launcher inside is the same
program as in a pod and cannot tell the difference.

Whatever is made has an owner that dies with us or is written down in the folder of the run, so that the next
start takes away what a killed one left (`folders`).
"""
