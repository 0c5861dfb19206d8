"""virt-handler: what a node does for its guests.

Read `handler.py` first: it puts the parts together. `launchers/` finds launchers and speaks with them,
`instances/` is the controller that follows VMIs of this node, `devices/` offers /dev/kvm and the like to the
kubelet, `web/` serves consoles and buttons to virt-api. `docs/virt-handler.md` tells the story.
"""
