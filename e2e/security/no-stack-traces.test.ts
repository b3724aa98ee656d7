import { rawConnection } from '@gateway/shared/test/raw-client';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';

const startTimeoutMs = 60_000;

/** Patterns of stack traces of the gateway, Node and libraries, and names of internals. */
const INSIDE =
  /\n\s+at |node:internal|node_modules|\.ts:\d+|file:\/\/|\/packages\/|kysely|postgres|ECONN|ENOTFOUND|SyntaxError|TypeError|ZodError/i;

const JSON_TYPE = 'Content-Type: application/json';
const auth = (token: string) => `Authorization: Bearer ${token}`;

/** Failing requests, one for each place that could reveal too much. */
const FAILING: readonly (readonly [string, (token: string) => string[], string?])[] = [
  ['GET /nowhere', () => []],
  ['GET /v1/services/%zz', (token) => [auth(token)]],
  ['GET /v1/services/%00', (token) => [auth(token)]],
  ['GET /v1/services?limit=x&cursor=%F0', (token) => [auth(token)]],
  ['GET /v1/services?cursor=AAAA', (token) => [auth(token)]],
  ['GET /v1/requests/req_none', (token) => [auth(token)]],
  ['POST /v1/services', (token) => [auth(token), JSON_TYPE], '{"name":'],
  ['POST /v1/services', (token) => [auth(token), JSON_TYPE], '{"__proto__":{"a":1}}'],
  ['POST /v1/services', (token) => [auth(token), JSON_TYPE], '{"name":"\\ud800","url":"x"}'],
  ['POST /v1/services', (token) => [auth(token), JSON_TYPE, 'Content-Encoding: gzip'], 'no gzip'],
  ['POST /v1/routes', (token) => [auth(token), JSON_TYPE], '{"name":[],"service_id":{}}'],
  ['POST /v1/tokens', (token) => [auth(token), JSON_TYPE], '{"expires_at":"0000-99-99"}'],
  ['PATCH /v1/routes/rte_none', (token) => [auth(token), JSON_TYPE], '{}'],
  ['GET /v1/services', () => [auth('gwt_%00')]],
  ['GET /v1/services', () => ['Authorization: Basic !!!']],
  ['GET /v1/proxy/away', (token) => [auth(token)]],
  ['GET /v1/proxy/away/%2e%2e/x', (token) => [auth(token)]],
  ['GET /v1/proxy/none', (token) => [auth(token)]],
  ['GET /v1/proxy/%00', (token) => [auth(token)]],
  [
    'POST /v1/proxy/away',
    (token) => [auth(token), 'Idempotency-Key: a', 'Idempotency-Key: b'],
    'x',
  ],
  ['POST /v1/proxy/away', (token) => [auth(token), 'Transfer-Encoding: gzip'], 'x'],
  ['BREW /v1/proxy/away', (token) => [auth(token)]],
  ['GET nonsense', () => []],
];

describe('the response to a request that fails', () => {
  let gateway: BorrowedGateway;
  beforeAll(async () => {
    gateway = await borrowGateway();
    const { id } = await gateway.service({ url: 'http://127.0.0.1:9' });
    await gateway.route({ name: 'away', service_id: id, retry_count: 0 });
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
  }, startTimeoutMs);

  async function ask(port: number, [line, lines, body = '']: (typeof FAILING)[number]) {
    const connection = await rawConnection(port);
    const all = ['Host: gateway.test', 'Connection: close', ...lines(gateway.admin.token)];
    if (body !== '') all.push(`Content-Length: ${Buffer.byteLength(body)}`);
    connection.send(`${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`);
    await eventually(() => expect(connection.ended).toBe(true));
    return connection.receivedText;
  }

  it.each(['the base URL', 'the port of the control plane'])(
    'shows no stack trace and no internals, at %s',
    async (where) => {
      const { controlPlane, admin } = gateway;
      const url = where === 'the base URL' ? admin.baseUrl : controlPlane.baseUrl;
      for (const request of FAILING) {
        const text = await ask(Number(new URL(url).port), request);
        expect({ request: request[0], text }).toEqual({
          request: request[0],
          text: expect.stringMatching(/^HTTP\/1\.1 [45]\d\d /),
        });
        expect({ request: request[0], shown: INSIDE.exec(text)?.[0] }).toEqual({
          request: request[0],
          shown: undefined,
        });
        expect(text).toMatch(/"code":"[a-z_]+"/);
      }
    },
    startTimeoutMs,
  );

  it('shows none on the admin ports', async () => {
    for (const { adminUrl } of [gateway.controlPlane, ...gateway.dataPlanes]) {
      for (const path of ['/', '/%zz', '/metrics/../x', '/healthz?x=%00']) {
        const text = await (await fetch(adminUrl + path)).text();
        expect(INSIDE.exec(text)?.[0]).toBeUndefined();
      }
    }
  });
});
