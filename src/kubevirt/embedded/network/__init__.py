"""The network of an embedded home: addresses, cables, Services, names.

    settings.py     names and ranges; everything that can be named derives from them
    ranges.py       private ranges that collide with nothing on this machine
    leases.py       which pod has which address, found again after a crash
    resolv_conf.py  what a pod's resolver is told
    services/       Services and EndpointSlices as rules of nftables
    dns/            the same as names, served by dnsmasq
    gateway.py      the machine's side: the pods' gateway, and what goes out of it
    cables.py       a pod's namespace and its cable
    switchboard.py  who is connected
    node.py         what a node's pods worker asks
    keeping.py      rules, names and links, kept as they should be
    duty.py         tried again until it is done, and why it is not
    publishing.py   what the cluster is told: kube-dns, and where the API server is
    networks.py     all of it, kept as it should be
    doctor.py       what on this machine stands in its way

Each pod has a cable of its own to the machine, and a route there: nothing is bridged. A bridge would have
packets of Services go back another way than they came, or, where bridges call iptables, be turned around on
the bridge itself; here every packet is routed, and meets the rules both ways, on every machine.
"""
