#!/bin/sh
# Writes the Secrets that the manifests and the chart need, and keeps those that exist: a new master key would make every
# stored credential unreadable. Needs openssl.
#   deploy/kubernetes/make-secrets.sh gateway-secrets            # with the Postgres of trials
#   DATABASE_URL='postgres://…?sslmode=verify-full' deploy/kubernetes/make-secrets.sh gateway-secrets
#   kubectl -n gateway apply -f gateway-secrets/secrets.yaml
# The folder has the keys of the gateway: keep it where you keep secrets. NAMESPACE names another namespace than gateway.
set -eu
umask 077
folder=${1:?usage: make-secrets.sh FOLDER}
namespace=${NAMESPACE:-gateway}
mkdir -p "$folder"
cd "$folder"

random() { openssl rand -base64 "$1" | tr -d '\n'; }
url_safe() { random "$1" | tr '+/' '-_' | tr -d '='; }
# keep FILE COMMAND...: the output of a command in a file, made once.
keep() {
  file=$1
  shift
  [ -e "$file" ] || { "$@" > "$file.new" && mv "$file.new" "$file"; }
}
indented() { sed 's/^/    /' "$1"; }

keep master-key random 32
keep admin-token url_safe 32
keep postgres-password url_safe 24
keep control-plane-password url_safe 24
keep data-plane-password url_safe 24

if [ ! -e ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=gateway-nats-ca \
    -keyout ca.key -out ca.crt 2> /dev/null
fi
# A new certificate of the same authority: remove tls.crt and run this again.
if [ ! -e tls.crt ]; then
  names="DNS:nats,DNS:nats.$namespace.svc,DNS:nats-0.nats-headless,DNS:nats-1.nats-headless,DNS:nats-2.nats-headless"
  printf 'subjectAltName=%s\n' "$names" > names
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=nats -keyout tls.key -out tls.csr 2> /dev/null
  openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile names -out tls.crt 2> /dev/null
  rm -f tls.csr names
fi

postgres=$(cat postgres-password)
if [ -n "${DATABASE_URL:-}" ]; then printf '%s' "$DATABASE_URL" > database-url; fi
keep database-url printf '%s' "postgres://gateway:$postgres@postgres:5432/gateway"
database=$(cat database-url)

secret() {
  printf -- '---\napiVersion: v1\nkind: Secret\nmetadata: { name: %s }\nstringData:\n' "$1"
}
{
  secret gateway-master-keys
  printf '  GATEWAY_MASTER_KEYS: "k1:%s"\n' "$(cat master-key)"
  secret control-plane
  # In single quotes YAML knows no escapes but a doubled quote.
  printf "  DATABASE_URL: '%s'\n" "$(printf '%s' "$database" | sed "s/'/''/g")"
  printf '  NATS_URL: "tls://control-plane:%s@nats:4222"\n' "$(cat control-plane-password)"
  printf '  GATEWAY_ADMIN_TOKEN: "gwt_%s"\n' "$(cat admin-token)"
  secret data-plane
  printf '  NATS_URL: "tls://data-plane:%s@nats:4222"\n' "$(cat data-plane-password)"
  secret nats
  printf '  CONTROL_PLANE_NATS_PASSWORD: "%s"\n' "$(cat control-plane-password)"
  printf '  DATA_PLANE_NATS_PASSWORD: "%s"\n' "$(cat data-plane-password)"
  secret postgres
  printf '  POSTGRES_PASSWORD: "%s"\n' "$postgres"
  secret nats-tls
  for file in ca.crt tls.crt tls.key; do
    printf '  %s: |\n' "$file"
    indented "$file"
  done
} > secrets.yaml
echo "The Secrets are in $folder/secrets.yaml. The admin token is gwt_ and the content of $folder/admin-token."
