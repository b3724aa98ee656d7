#!/bin/sh
# Asks an installation for everything that it is for: creates a route, sends a request through it, reads the record of that
# request, and deletes the route. Needs curl and a POSIX shell.
#   TOKEN=gwt_... deploy/smoke-test.sh https://gateway.example.com [URL of an upstream]
# With an upstream the request is forwarded to it (GET /), else the route answers itself.
#   ENVIRONMENT=staging        another environment than production
#   CURL_OPTIONS='--cacert ca' more options of curl
set -u

BASE=${1:?usage: TOKEN=gwt_... smoke-test.sh BASE_URL [UPSTREAM_URL]}
UPSTREAM=${2:-}
: "${TOKEN:?set TOKEN to a token with the scopes routes:write, services:write, requests:read and proxy}"
ENVIRONMENT=${ENVIRONMENT:-production}
NAME=smoke-test-$$
ROUTE=
SERVICE=
folder=$(mktemp -d) || exit 1

# call METHOD PATH [BODY]: the status in $status, the body in $folder/body, the head in $folder/head.
call() {
  printf 'header = "Authorization: Bearer %s"\n' "$TOKEN" > "$folder/config"
  set -- "$@" ''
  # shellcheck disable=SC2086 # options are words
  status=$(curl -sS --max-time 30 -K "$folder/config" ${CURL_OPTIONS:-} -X "$1" "$BASE$2" \
    -H 'Prefer: wait=15' ${3:+-H 'Content-Type: application/json' --data-binary "$3"} \
    -D "$folder/head" -o "$folder/body" -w '%{http_code}' 2> "$folder/error") || status=000
}

# The id of what the last call created. Its body begins with `{"data":{"id":"`.
id() { sed -n 's/^{"data":{"id":"\([^"]*\)".*/\1/p' "$folder/body"; }

say() { printf '%-6s %s\n' "$1" "$2"; }

clean() {
  [ -z "$ROUTE" ] || call DELETE "/v1/routes/$ROUTE"
  [ -z "$SERVICE" ] || call DELETE "/v1/services/$SERVICE"
  rm -rf "$folder"
}
trap clean EXIT

expect() {
  if [ "$status" = "$1" ]; then say ok "$2"; return; fi
  say FAILED "$2: expected $1, got $status"
  cat "$folder/error" "$folder/body" 2> /dev/null
  echo
  exit 1
}

call GET /v1/services
expect 200 'the management API accepts the token'

if [ -n "$UPSTREAM" ]; then
  call POST /v1/services "{\"name\":\"$NAME\",\"environment\":\"$ENVIRONMENT\",\"url\":\"$UPSTREAM\"}"
  expect 201 "a service with the upstream $UPSTREAM"
  SERVICE=$(id)
  TARGET="\"service_id\":\"$SERVICE\""
else
  TARGET="\"environment\":\"$ENVIRONMENT\",\"respond\":{\"body\":\"works\"}"
fi
call POST /v1/routes "{\"name\":\"$NAME\",$TARGET}"
expect 201 "a route $NAME"
ROUTE=$(id)
if ! grep -qi '^preference-applied: wait' "$folder/head"; then
  say FAILED 'the data planes have the route: not within 15 s; see GET /v1/data-planes'
  exit 1
fi
say ok 'every data plane has the route'

call GET "/v1/proxy/$NAME"
expect 200 'a request through the route'
REQUEST=$(tr -d '\r' < "$folder/head" | sed -n 's/^[Xx]-[Rr]equest-[Ii]d: //p' | head -n 1)

tries=20
call GET "/v1/requests/$REQUEST"
while [ "$status" != 200 ] && [ "$tries" -gt 0 ]; do
  tries=$((tries - 1))
  sleep 0.5
  call GET "/v1/requests/$REQUEST"
done
expect 200 "the record of the request $REQUEST"
grep -q '"outcome":"success"' "$folder/body" || { say FAILED 'the outcome of the record is success'; exit 1; }
say ok 'the outcome of the record is success'
