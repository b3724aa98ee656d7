#!/bin/sh
# Creates what deploy/compose.yaml needs and nobody else may know: deploy/.env and deploy/compose/secrets.
# Existing files are kept: a new master key would make every stored credential unreadable.
set -eu
umask 077
cd "$(dirname "$0")"

random() { openssl rand -base64 "$1" | tr -d '\n'; }
url_safe() { random "$1" | tr '+/' '-_' | tr -d '='; }

if [ ! -e ../.env ]; then
  cat > ../.env.new <<ENV
GATEWAY_MASTER_KEYS=k1:$(random 32)
GATEWAY_ADMIN_TOKEN=gwt_$(url_safe 32)
POSTGRES_PASSWORD=$(url_safe 24)
CONTROL_PLANE_NATS_PASSWORD=$(url_safe 24)
DATA_PLANE_NATS_PASSWORD=$(url_safe 24)
GRAFANA_PASSWORD=$(url_safe 24)
ENV
  mv ../.env.new ../.env
fi

mkdir -p secrets
cd secrets
if [ ! -e nats-cert.pem ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 825 \
    -subj '/CN=nats' -addext 'subjectAltName=DNS:nats' \
    -keyout nats-key.pem -out nats-ca.pem 2>/dev/null
  cp nats-ca.pem nats-cert.pem
fi
# The containers run as other users than this one.
chmod 755 .
chmod 644 nats-ca.pem nats-cert.pem nats-key.pem
echo "Secrets are in deploy/.env and deploy/compose/secrets. The admin token is GATEWAY_ADMIN_TOKEN in deploy/.env."
