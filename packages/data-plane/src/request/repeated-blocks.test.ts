import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { rawCall } from '@gateway/shared/test/raw-client';
import { testSnapshot } from '@gateway/shared/test/snapshot';
import { startUpstream, type SeenRequest } from '@gateway/shared/test/upstream';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { startTestDataPath } from '../../test/data-path.ts';

const opened = closeAfterEach();
/** The first header block makes a template, which the others find. */
const TIMES = 4;
const NEW_EACH_TIME = new Set(['x-request-id', 'traceparent']);

async function setUp() {
  const upstream = opened(
    await startUpstream((_seen, response) => {
      response.sendDate = false;
      response.setHeader('X-Request-Id', 'theirs').setHeader('X-Gateway-Latency', '1');
      response.setHeader('Connection', 'X-Hop').setHeader('X-Hop', '1').end('ok');
    }),
  );
  const token = createTokenSecret();
  const snapshot = testSnapshot({ upstreams: [upstream.url] }, token);
  const gateway = opened(await startTestDataPath({ upstreams: [] }, { snapshots: [snapshot] }));
  const call = (lines: readonly string[]) =>
    rawCall(gateway.port, { lines: ['Host: gateway.test', ...lines] }, token);
  return { upstream, gateway, snapshot, call };
}

/** The fields that an upstream got, without those that are new in each request. */
function arrived({ rawHeaders }: SeenRequest): string[] {
  return rawHeaders.filter((_text, at) => {
    const name = rawHeaders[at - (at % 2)] ?? '';
    return !NEW_EACH_TIME.has(name.toLowerCase());
  });
}

describe('requests with the same header block', () => {
  it.each([
    [['Cookie: a=1', 'Cookie: b=2', 'X-A:  spaced\t']],
    [['Connection: X-A, keep-alive', 'X-A: 1', 'X-B: 2']],
    [['X-API-Key: theirs', 'X-Forwarded-For: 1.2.3.4']],
    [['Via: 1.0 fred', 'CDN-Loop: other', 'Tracestate: a=1', 'X-Gateway-Foo: 1']],
  ])('reach the upstream with the same fields each time: %j', async (lines) => {
    const { upstream, call } = await setUp();
    for (let time = 0; time < TIMES; time += 1) expect((await call(lines)).status).toBe(200);
    const [first, ...others] = upstream.seen.map(arrived);
    expect(others).toEqual(Array(TIMES - 1).fill(first));
  });

  it.each<[string, (time: number) => readonly string[], (time: number) => readonly string[]]>([
    ['that goes on', (time) => ['X-Id: 1', `X-A: ${time}`], (time) => ['X-Id: 1', `X-A: ${time}`]],
    ['that does not go on', (time) => [`X-Request-Id: ${time}`, 'X-A: 1'], () => ['X-A: 1']],
    [
      'that decides what goes on',
      (time) => [`Connection: X-${'AB'[time % 2]}`, 'X-A: 1', 'X-B: 2'],
      (time) => [time % 2 === 0 ? 'X-B: 2' : 'X-A: 1'],
    ],
  ])('but one value %s reach the upstream with it', async (_case, lines, expected) => {
    const { upstream, call } = await setUp();
    for (let time = 0; time < 2 * TIMES; time += 1) {
      expect((await call(lines(time))).status).toBe(200);
      const { rawHeaders = [] } = upstream.seen.at(-1) ?? {};
      const own = rawHeaders.flatMap((name, at) =>
        /^X-(?:A|B|Id)$/.test(name) ? [`${name}: ${rawHeaders[at + 1]}`] : [],
      );
      expect(own).toEqual(expected(time));
    }
  });

  it.each([
    ['token', 'Authorization: Bearer'],
    ['api_key', 'X-API-Key:'],
  ] as const)('but other tokens of type %s are those of their callers', async (type, name) => {
    const { upstream, snapshot, gateway } = await setUp();
    const token = createTokenSecret();
    const route = { upstreams: [upstream.url], auth: { type } };
    await gateway.use({ ...testSnapshot(route, token), version: snapshot.version + 1 });
    const call = (secret: string) =>
      rawCall(gateway.port, { lines: ['Host: gateway.test', `${name} ${secret}`] });
    for (let time = 0; time < 2 * TIMES; time += 1) {
      expect((await call(token)).status).toBe(200);
      expect((await call(createTokenSecret())).status).toBe(401);
    }
  });

  it('get the same response and have the same record each time', async () => {
    const { gateway, call } = await setUp();
    for (let time = 0; time < TIMES; time += 1) {
      const { headers } = await call(['X-Client: 1']);
      expect(headers.get('x-hop')).toBeNull();
      expect(headers.get('x-upstream-request-id')).toBe('theirs');
      expect(headers.get('x-request-id')).toMatch(/^req_/);
      const record = await gateway.recordOf(String(headers.get('x-request-id')));
      expect(record).toMatchObject({ host: 'gateway.test', upstream_request_id: 'theirs' });
      expect(record.header_names).toContain('x-client');
    }
  });

  it('follow a change of the configuration', async () => {
    const { upstream, gateway, snapshot, call } = await setUp();
    for (let time = 0; time < TIMES; time += 1) await call(['X-A: 1']);
    const services = snapshot.services.map((service) => ({ ...service, send_via: true }));
    await gateway.use({ ...snapshot, version: 2, services });
    await call(['X-A: 1']);
    expect(upstream.seen.map(({ headers }) => headers['via'])).toEqual([
      ...Array<undefined>(TIMES).fill(undefined),
      '1.1 gateway',
    ]);
    await gateway.use({ ...snapshot, version: 3, tokens: [] });
    expect((await call(['X-A: 1'])).status).toBe(401);
  });
});
