#!/bin/sh
# Creates the secrets of the units in this folder, in /etc/gateway or the folder that is given. Existing files are kept:
# a new master key would make every stored credential unreadable.
set -eu
umask 077
folder=${1:-/etc/gateway}
mkdir -p "$folder"
cd "$folder"
# The files of NATS are read by its own user.
chmod 755 .
[ ! -e control-plane.env ] || { echo "$folder has secrets already"; exit 0; }

random() { openssl rand -base64 "$1" | tr -d '\n'; }
url_safe() { random "$1" | tr '+/' '-_' | tr -d '='; }
master_keys="k1:$(random 32)"
control_plane=$(url_safe 24)
data_plane=$(url_safe 24)

# nats-server reads these values as configuration, so they have quotes of their own.
cat > nats.env <<ENV
CONTROL_PLANE_NATS_PASSWORD='"$control_plane"'
DATA_PLANE_NATS_PASSWORD='"$data_plane"'
ENV
cat > data-plane.env <<ENV
GATEWAY_MASTER_KEYS=$master_keys
NATS_URL=nats://data-plane:$data_plane@127.0.0.1:4222
ENV
cat > control-plane.env.new <<ENV
GATEWAY_MASTER_KEYS=$master_keys
GATEWAY_ADMIN_TOKEN=gwt_$(url_safe 32)
NATS_URL=nats://control-plane:$control_plane@127.0.0.1:4222
ENV
mv control-plane.env.new control-plane.env
echo "Secrets are in $folder. The admin token is GATEWAY_ADMIN_TOKEN in control-plane.env."
