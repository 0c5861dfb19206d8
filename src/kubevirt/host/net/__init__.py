"""The machine's side of a guest's network: namespaces, links, nftables, DHCP.

`netns` opens and enters namespaces, `kernel` speaks netlink in one, `apply` makes a plan of
`kubevirt.virt.network` come true there (and says what differs, and takes it away), `dnsmasq` serves
the guest's DHCP, `home` makes a namespace with a way out for a guest without a cluster.

pyroute2 costs time and memory, so it is imported when the first netlink socket is opened, by
`kernel` alone. What a launcher needs to know of all this is data in `kubevirt.virt`.
"""
