# cloud-config's write_files.

write_files() { each "$seed/user/write_files" write_file; }

write_file() {
  local file=$1 path encoding owner mode
  read_value path "$file/path"
  case $path in /*) ;; *) say "write_files: '$path' is no absolute path"; return ;; esac
  read_value encoding "$file/encoding"
  mkdir -p "${path%/*}/"
  is_true "$file/append" || : >"$path"
  if [ -f "$file/content" ]; then
    decode "$encoding" <"$file/content" >>"$path" || say "write_files: $path cannot be decoded as '$encoding'"
  fi
  if read_value mode "$file/permissions"; then chmod "$mode" "$path"; fi
  if read_value owner "$file/owner"; then chown "$owner" "$path"; fi
}

decode() {
  case $1 in
    '' | text/plain) cat ;;
    b64 | base64) base64 -d ;;
    gz | gzip) zcat ;;
    gz+b64 | gz+base64 | gzip+b64 | gzip+base64) base64 -d | zcat ;;
    *) return 1 ;;
  esac
}
