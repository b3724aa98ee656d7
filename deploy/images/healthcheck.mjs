// The health check of the images of both planes: exits with 0 if the admin port answers 200, else with 1.
// Its argument is the path, by default /healthz. Imports only node:http, because it runs every few seconds.
import { get } from 'node:http';

const { CONTROL_PLANE_ADMIN_PORT, DATA_PLANE_ADMIN_PORT, GATEWAY_IMAGE } = process.env;
const port =
  GATEWAY_IMAGE === 'control-plane'
    ? CONTROL_PLANE_ADMIN_PORT || 9081
    : DATA_PLANE_ADMIN_PORT || 9090;
const path = process.argv[2] ?? '/healthz';

function fail(reason) {
  process.stderr.write(`${path} of port ${port}: ${reason}\n`);
  process.exit(1);
}

get({ host: '127.0.0.1', port, path, timeout: 3000 }, (response) => {
  if (response.statusCode === 200) process.exit(0);
  response.setEncoding('utf8');
  response.once('data', (text) => fail(`${response.statusCode} ${text}`));
  response.once('end', () => fail(String(response.statusCode)));
})
  .on('timeout', () => fail('no answer within 3 s'))
  .on('error', (error) => fail(error.message));
