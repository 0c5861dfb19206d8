"""The machine's side of a guest's network: namespaces, links, nftables, DHCP.

Read `netns` first: it opens namespaces and enters them. In one, `kernel` speaks netlink and `nft`
loads rules. Upon these stand `pod`, which reads what planning must know, `apply`, which makes a plan
of `kubevirt.virt.network` come true, says what differs and takes it away, `dnsmasq`, which serves the
guest's DHCP, and `home`, a namespace with a way out for a guest without a cluster.

pyroute2 costs time and memory, so it is imported when the first netlink socket is opened, by
`netlink` alone. What a launcher needs to know of all this is data in `kubevirt.virt`.
"""
