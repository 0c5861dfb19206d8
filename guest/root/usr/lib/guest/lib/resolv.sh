# The name servers (/etc/resolv.conf is a link into /run), joined from what each source knows.

# remember_nameservers SOURCE "ADDRESS..." "DOMAIN..."
remember_nameservers() {
  local address domains
  mkdir -p /run/resolv
  for address in $2; do echo "nameserver $address"; done >"/run/resolv/$1"
  # shellcheck disable=SC2086,SC2116  # unquoted, to be rid of blanks
  domains=$(echo $3)
  [ -z "$domains" ] || echo "search $domains" >>"/run/resolv/$1"
  cat /run/resolv/* >/run/resolv.conf
}

forget_nameservers() {
  rm -f "/run/resolv/$1"
  cat /run/resolv/* >/run/resolv.conf 2>/dev/null
}
