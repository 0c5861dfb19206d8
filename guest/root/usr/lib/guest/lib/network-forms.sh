# Other descriptions of a network, brought into the form of version 2: OpenStack's network_data.json
# and cloud-init's version 1. Each function writes FOLDER/ethernets, which network.sh carries out.

# put VALUE PATH: a value of the tree; none when it is empty.
put() {
  [ -n "$1" ] || return 0
  mkdir -p "${2%/*}"
  printf %s "$1" >"$2"
}

# append VALUE LIST: one more item of a list.
append() { put "$1" "$(next_item "$2")"; }

# append_route TO VIA LIST
append_route() {
  local route
  route=$(next_item "$3")
  put "$1" "$route/to"
  put "$2" "$route/via"
}

# The path that the next item of a list has.
next_item() {
  local number=0 path=$1/0000
  while [ -e "$path" ]; do
    number=$((number + 1))
    path=$1/$(printf %04d $number)
  done
  echo "$path"
}

# Whether a foreign name may be part of a path here.
is_plain() { case $1 in '' | .* | */*) return 1 ;; esac; }

# with_prefix ADDRESS NETMASK: ADDRESS/BITS. A netmask may be missing, or be a number of bits already.
with_prefix() {
  case $1-$2 in
    */*-* | *-) echo "$1" ;;
    *-*.*) echo "$1/$(prefix_of "$2")" ;;
    *-*:*) echo "$1/64" ;;
    *) echo "$1/$2" ;;
  esac
}

prefix_of() {
  local octet bits=0 IFS=.
  for octet in $1; do
    while [ "$octet" -gt 0 ]; do
      bits=$((bits + octet % 2))
      octet=$((octet / 2))
    done
  done
  echo $bits
}

from_openstack() {
  local network=$1 item link name value
  for link in "$network"/links/*; do
    read_value name "$link/id"
    is_plain "$name" || continue
    read_value value "$link/ethernet_mac_address" && put "$value" "$network/ethernets/$name/match/macaddress"
    read_value value "$link/mtu" && put "$value" "$network/ethernets/$name/mtu"
  done
  for item in "$network"/networks/*; do
    read_value name "$item/link"
    is_plain "$name" || continue
    from_openstack_network "$item" "$network/ethernets/$name"
  done
  for item in "$network"/services/*; do
    read_value value "$item/address" && append "$value" "$network/ethernets/$name/nameservers/addresses"
  done
}

from_openstack_network() {
  local item=$1 ethernet=$2 type address netmask route to via
  read_value type "$item/type"
  case $type in
    ipv4_dhcp) put true "$ethernet/dhcp4" ;;
    ipv6_dhcp | ipv6_dhcpv6-stateful) put true "$ethernet/dhcp6" ;;
    ipv4 | ipv6)
      read_value address "$item/ip_address"
      read_value netmask "$item/netmask"
      append "$(with_prefix "$address" "$netmask")" "$ethernet/addresses"
      ;;
  esac
  for route in "$item"/routes/*; do
    read_value to "$route/network" || continue
    read_value netmask "$route/netmask"
    read_value via "$route/gateway"
    case $to in 0.0.0.0 | ::) to=default ;; *) to=$(with_prefix "$to" "$netmask") ;; esac
    append_route "$to" "$via" "$ethernet/routes"
  done
  for route in "$item"/dns_nameservers/*; do
    read_value address "$route" && append "$address" "$ethernet/nameservers/addresses"
  done
}

from_version_1() {
  local network=$1 item type name value subnet
  for item in "$network"/config/*; do
    read_value type "$item/type"
    case $type in
      physical)
        read_value name "$item/name"
        is_plain "$name" || continue
        mkdir -p "$network/ethernets/$name"
        read_value value "$item/mac_address" && put "$value" "$network/ethernets/$name/match/macaddress"
        read_value value "$item/mtu" && put "$value" "$network/ethernets/$name/mtu"
        for subnet in "$item"/subnets/*; do
          from_version_1_subnet "$subnet" "$network/ethernets/$name"
        done
        ;;
      nameserver)
        for value in $(list "$item/address"); do append "$value" "$network/ethernets/$name/nameservers/addresses"; done
        for value in $(list "$item/search"); do append "$value" "$network/ethernets/$name/nameservers/search"; done
        ;;
      *) say "network: version 1 of type '$type' is ignored" ;;
    esac
  done
}

from_version_1_subnet() {
  local subnet=$1 ethernet=$2 type address netmask value route
  read_value type "$subnet/type"
  case $type in
    dhcp | dhcp4) put true "$ethernet/dhcp4" ;;
    dhcp6 | ipv6_dhcpv6-stateful) put true "$ethernet/dhcp6" ;;
    static | static6)
      read_value address "$subnet/address"
      read_value netmask "$subnet/netmask"
      append "$(with_prefix "$address" "$netmask")" "$ethernet/addresses"
      read_value value "$subnet/gateway" && append_route default "$value" "$ethernet/routes"
      ;;
  esac
  for value in $(list "$subnet/dns_nameservers"); do append "$value" "$ethernet/nameservers/addresses"; done
  for value in $(list "$subnet/dns_search"); do append "$value" "$ethernet/nameservers/search"; done
  for route in "$subnet"/routes/*; do
    read_value address "$route/network" || read_value address "$route/destination" || continue
    read_value netmask "$route/netmask"
    read_value value "$route/gateway"
    append_route "$(with_prefix "$address" "$netmask")" "$value" "$ethernet/routes"
  done
}
