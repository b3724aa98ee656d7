import { createServer } from 'node:http';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startTestDataPath } from '../../test/data-path.ts';
import { corsOf, OTHER_PAGE, PAGE } from '../../test/cors-world.ts';

const opened = closeAfterEach();

/** Routes `test` with cors, and `plain`, in an environment that is not the default one. */
async function setUp() {
  const server = createServer();
  const upstream = opened(await listen(server));
  const sockets = opened(new WebSocketServer({ server }));
  sockets.on('connection', (socket) => socket.on('error', () => undefined));
  const secret = createTokenSecret();
  const base = testSnapshot({ upstreams: [upstream.url] }, secret);
  const routes = base.routes.flatMap((route) => [
    { ...route, cors: corsOf() },
    { ...route, id: 'rte_plain', name: 'plain' },
  ]);
  const snapshots = [{ ...base, environment: 'staging', routes }];
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots }));
  /** The status of the handshake, and the code of a refusal. */
  async function open(name: string, headers: Record<string, string>) {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/proxy/${name}`, {
      headers: { 'x-gateway-environment': 'staging', ...headers },
    });
    opened({ close: () => socket.terminate() });
    socket.on('error', () => undefined);
    const refused = once(socket, 'unexpected-response').then(
      ([, response]: { statusCode: number; headers: Record<string, string> }[]) =>
        `${response?.statusCode} ${response?.headers['x-gateway-error']}`,
    );
    return Promise.race([refused, once(socket, 'open').then(() => '101')]);
  }
  return { gateway, open, bearer: { authorization: `Bearer ${secret}` } };
}

describe('a WebSocket of a page', () => {
  it('is refused on a route with cors unless the origin is allowed', async () => {
    const { open, bearer, gateway } = await setUp();
    const of = async (name: string, origin?: string) =>
      open(name, { ...bearer, ...(origin === undefined ? {} : { origin }) });
    expect(await of('test', PAGE)).toBe('101');
    expect(await of('test')).toBe('101');
    for (const origin of [OTHER_PAGE, 'null', `${PAGE}.`, `${PAGE}, ${PAGE}`]) {
      expect(await of('test', origin)).toBe('403 origin_not_allowed');
    }
    expect(await of('plain', OTHER_PAGE)).toBe('101');
    const refused = gateway.records.filter(({ status }) => status === 403);
    expect(refused).toHaveLength(4);
    expect(refused[0]).toMatchObject({
      error_code: 'origin_not_allowed',
      error_stage: 'origin',
      outcome: 'rejected',
    });
    expect(JSON.stringify(gateway.records) + gateway.logLines.join()).not.toContain(OTHER_PAGE);
  });

  it('learns nothing of the route before its caller is authenticated', async () => {
    const { open } = await setUp();
    for (const name of ['test', 'plain', 'missing']) {
      expect(await open(name, { origin: OTHER_PAGE })).toBe('401 authentication_failed');
    }
  });
});
