import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createTestAuthority } from '@gateway/shared/test/certificates';
import { writeCertificateFiles } from '@gateway/shared/test/served-certificate';
import { UndoList } from '@gateway/shared/test/undo-list';
import { listen } from '@gateway/shared/test/upstream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { WebSocketServer } from 'ws';
import { BROWSER_START_MS, startBrowser } from '../harness/browser.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

/** What a page reads of one response. */
interface Seen {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | null>>;
}

const ALL_REFUSED = {
  put: 'TypeError',
  unauthenticated: 'TypeError',
  notFound: 'TypeError',
  forbiddenMethod: 'TypeError',
  cookieSet: 'TypeError',
  cookieSent: 'TypeError',
  cookieOmitted: 'TypeError',
  events: 'error',
  echoed: 'error',
};

/** An upstream whose own CORS headers are of use to nobody. */
const answer: RequestListener = (request, response) => {
  const { method, headers, url = '' } = request;
  response.setHeader('Access-Control-Allow-Origin', 'https://else.test');
  response.setHeader('Timing-Allow-Origin', '*');
  if (url === '/events') {
    response.setHeader('Content-Type', 'text/event-stream');
    response.write('data: one\n\n');
    response.write('data: two\n\n');
    return;
  }
  if (url === '/set') response.setHeader('Set-Cookie', 'session=of-the-page; Path=/; HttpOnly');
  response.setHeader('X-Shown', 'yes');
  response.setHeader('X-Hidden', 'yes');
  response.statusCode = url === '/missing' ? 404 : 200;
  request.resume();
  response.end(JSON.stringify({ method, cookie: headers.cookie ?? null }));
};

describe('a page of another origin', () => {
  const undo = new UndoList();
  let gateway: Gateway;
  let browser: Browser;
  let token = '';
  /** The port of the page, by its scheme. */
  const pages: Record<string, number> = {};
  /** Those of the data planes, one without and one with TLS. */
  let ports: Readonly<Record<string, number | undefined>> = {};
  const upgrades: IncomingMessage[] = [];

  beforeAll(async () => {
    await undo.orUndo(async () => {
      const authority = createTestAuthority('browsers');
      const files = await writeCertificateFiles(authority, ['127.0.0.1', 'localhost']);
      undo.add(() => files.remove());
      const { certPem: cert, keyPem: key } = authority.issue(['127.0.0.1', 'localhost']);
      const page = await readFile(new URL('page.html', import.meta.url));
      const show: RequestListener = (_request, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end(page);
      };
      const servers: Record<string, Server> = {
        http: createServer(show),
        https: createSecureServer({ cert, key }, show),
      };
      for (const [scheme, server] of Object.entries(servers)) {
        const listening = await listen(server);
        undo.add(() => listening.close());
        pages[scheme] = listening.port;
      }
      const upstreamServer = createServer(answer);
      const sockets = new WebSocketServer({ server: upstreamServer });
      sockets.on('connection', (socket, request) => {
        upgrades.push(request);
        socket.on('message', (data, isBinary) => {
          socket.send(data, { binary: isBinary });
        });
      });
      const upstream = await listen(upstreamServer);
      undo.add(() => upstream.close());
      const starting = startBrowser();
      undo.add(async () => (await starting).close());
      gateway = await startGateway();
      undo.add(() => gateway.close());
      browser = await starting;
      const origins = Object.entries(pages).map(
        ([scheme, port]) => `${scheme}://127.0.0.1:${port}`,
      );
      const { id: service_id } = await gateway.service({ url: upstream.url });
      const shared = { service_id, methods: ['GET', 'PUT'] };
      const cors = { origins, expose: ['X-Shown'] };
      await gateway.route({ ...shared, name: 'tokens', cors });
      const open = { ...shared, auth: { type: 'none' }, cors: { ...cors, credentials: true } };
      await gateway.route({ ...open, name: 'cookies' });
      token = (await gateway.tokenClient({ scopes: ['proxy'] })).token;
      await gateway.settled();
      const { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE } = files;
      const secure = await gateway.stack.startDataPlane({ env: { TLS_CERT_FILE, TLS_KEY_FILE } });
      ports = { http: gateway.dataPlanes[0]?.ports[0], https: secure.ports[0] };
    });
  }, BROWSER_START_MS);
  afterAll(() => undo.run());

  /** What a page of this host can do, at the data plane with or without TLS. */
  async function tried(scheme: 'http' | 'https', host: string): Promise<Record<string, unknown>> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    try {
      const page = await context.newPage();
      await page.goto(`${scheme}://${host}:${pages[scheme]}/`);
      const routes = `${scheme}://127.0.0.1:${ports[scheme]}/v1/proxy`;
      return await page.evaluate(`run(${JSON.stringify(routes)}, ${JSON.stringify(token)})`);
    } finally {
      await context.close();
    }
  }

  it.each([
    ['http', 'http/1.1'],
    ['https', 'h2'],
  ] as const)('that is allowed can use everything over %s (%s)', async (scheme, protocol) => {
    upgrades.length = 0;
    const seen = await tried(scheme, '127.0.0.1');
    const own = { 'x-request-id': expect.stringMatching(/^req_/) as unknown, 'x-hidden': null };
    expect(seen).toMatchObject({
      put: {
        status: 200,
        body: { method: 'PUT' },
        headers: { ...own, 'x-shown': 'yes', 'x-gateway-error': null },
      },
      unauthenticated: {
        status: 401,
        body: { error: { code: 'authentication_failed' } },
        headers: { ...own, 'x-gateway-error': 'authentication_failed', 'x-ratelimit-limit': '600' },
      },
      notFound: { status: 404, body: { method: 'GET' }, headers: own },
      forbiddenMethod: 'TypeError',
      cookieSet: { status: 200, body: { cookie: null } },
      cookieSent: { status: 200, body: { cookie: 'session=of-the-page' } },
      cookieOmitted: { status: 200, body: { cookie: null } },
      events: ['one', 'two'],
      echoed: 'hello',
      protocol,
    });
    expect(upgrades.map(({ headers }) => headers.cookie)).toEqual(['session=of-the-page']);
    const { put } = seen as { readonly put: Seen };
    const id = String(put.headers['x-request-id']);
    const record = (await gateway.admin.get(`/v1/requests/${id}`)).resource();
    expect(record).toMatchObject({ method: 'PUT', kind: 'request', policies: ['cors'] });
    const asked = await gateway.admin.get('/v1/requests?kind=preflight&route=tokens&limit=200');
    expect(asked.page().data).toContainEqual(
      expect.objectContaining({ method: 'OPTIONS', path: '/v1/proxy/tokens/echo', status: 204 }),
    );
  });

  it.each(['http', 'https'] as const)(
    'that is not allowed reads nothing and opens no WebSocket over %s',
    async (scheme) => {
      upgrades.length = 0;
      expect(await tried(scheme, 'localhost')).toMatchObject(ALL_REFUSED);
      expect(upgrades).toEqual([]);
    },
  );
});
