# Interfaces and who configures them. DHCP does, unless the seed said otherwise: then a file in
# $fixed, named after interface and family, keeps DHCP away. IPv6 routes and prefixes come by router
# advertisement, which the kernel hears by itself.

fixed=/run/fixed

# Every Ethernet interface of the machine.
ethernet_links() {
  local path type
  for path in /sys/class/net/*; do
    read -r type <"$path/type" && [ "$type" = 1 ] && echo "${path##*/}"
  done
}

# Brings an interface up. No IPv6 address waits until nobody else has claimed it: in a virtual network
# nobody does, and that wait is longer than a boot.
raise_link() {
  echo 0 >"/proc/sys/net/ipv6/conf/$1/accept_dad"
  ip link set "$1" up
}

# start_dhcp LINK: raises it and asks for an IPv4 address, for as long as it takes.
start_dhcp() {
  raise_link "$1"
  [ ! -e "$fixed/$1.4" ] || return 0
  udhcpc -f -i "$1" -s /usr/lib/guest/dhcp4-event -t 3 -T 1 -A 1 -O search -O staticroutes -O mtu \
    -O ntpsrv >>/run/dhcp.log 2>&1 </dev/null &
}
