"""The network of an embedded home: a bridge, addresses, Services, names.

    settings.py     names and ranges; everything that can be named derives from them
    ranges.py       private ranges that collide with nothing on this machine
    leases.py       which pod has which address, found again after a crash
    resolv_conf.py  what a pod's resolver is told
    services/       Services and EndpointSlices as rules of nftables
    dns/            the same as names, served by dnsmasq
    bridge.py       the bridge, what goes out of it, and namespaces of further nodes
    cables.py       a pod's namespace and its link
    publishing.py   what the cluster is told: kube-dns, and where the API server is
    networks.py     all of it, kept as it should be
    doctor.py       what on this machine stands in its way

Pods hang on one bridge, kept from each other there (isolated ports): what they send to each other goes
through the machine, which answers for all of them when they are asked for (private VLAN proxy ARP). So every
packet meets the rules both ways, and a Service works whether or not the machine's bridges call iptables.
"""
