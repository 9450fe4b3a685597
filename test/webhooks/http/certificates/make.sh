#!/usr/bin/env bash
# Writes the certificates of the tests, which no machine trusts. They are valid until 2099, except the
# one that expired in 2001. The keys are public.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/index"
cat > "$work/ca.conf" <<CONF
[ca]
default_ca = test
[test]
database = $work/index
new_certs_dir = $work
default_md = sha256
policy = anything
rand_serial = yes
unique_subject = no
[anything]
commonName = supplied
[authority]
basicConstraints = critical, CA:true
[leaf]
basicConstraints = critical, CA:false
subjectAltName = DNS:provider.example
[local]
basicConstraints = critical, CA:false
subjectAltName = IP:127.0.0.1
CONF

key() { openssl ecparam -genkey -name prime256v1 -noout -out "$1.key.pem"; }
asked() { openssl req -new -key "$1.key.pem" -subj "/CN=Test only: $1" -out "$work/$1.csr"; }
signed() { # name, extensions, first day, last day, issuer
  openssl ca -batch -notext -config "$work/ca.conf" -extensions "$2" -startdate "$3" -enddate "$4" \
    -in "$work/$1.csr" -out "$1.pem" "${@:5}" 2>> "$work/log" || { cat "$work/log"; exit 1; }
}
by_authority=(-cert authority.pem -keyfile authority.key.pem)

for name in authority provider local expired self-signed; do key "$name"; asked "$name"; done
signed authority authority 20000101000000Z 20991231235959Z -selfsign -keyfile authority.key.pem
signed provider leaf 20000101000000Z 20991231235959Z "${by_authority[@]}"
signed local local 20000101000000Z 20991231235959Z "${by_authority[@]}"
signed expired leaf 20000101000000Z 20010101000000Z "${by_authority[@]}"
signed self-signed leaf 20000101000000Z 20991231235959Z -selfsign -keyfile self-signed.key.pem
rm authority.key.pem
