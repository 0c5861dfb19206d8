# set_hostname NAME [NAME...]: the first becomes the host's name, all of them resolve to it.
set_hostname() {
  case $1 in '' | -* | *[!A-Za-z0-9-]*) return 1 ;; esac
  hostname "$1"
  printf '127.0.0.1 localhost\n::1 localhost\n127.0.1.1 %s\n' "$*" >/etc/hosts
}
