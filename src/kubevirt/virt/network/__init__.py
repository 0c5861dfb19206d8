"""Plans for the network of a pod with a guest in it: links, addresses, nftables, DHCP. Data only."""
