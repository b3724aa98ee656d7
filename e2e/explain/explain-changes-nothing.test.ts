import { readFile } from 'node:fs/promises';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { NAMES } from '@gateway/shared/messaging/names';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { explain } from './explain-world.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const CALLS = 100;
const startTimeoutMs = 60_000;
/** They change by themselves: the loop, checks of upstreams, heartbeats, the clock of NATS, the share of each quota. */
const OF_THE_BACKGROUND =
  /^gateway_(event_loop_delay|upstream_checks_total|heartbeat|nats_clock_offset|quota_share[ {]|quota_fleet)/;

const BUCKETS = [NAMES.idempotencyBucket, NAMES.quotaBucket, NAMES.shortQuotaBucket];
const STREAMS = [...BUCKETS.map((name) => `KV_${name}`), NAMES.recordStream];

interface StreamInfo {
  readonly state: { readonly last_seq: number };
}

/** What explanations must not change. */
interface Effects {
  readonly metrics: readonly string[];
  readonly streams: readonly string[];
  readonly records: number;
  readonly arrived: number;
}

describe('a hundred explanations of a keyed request', () => {
  let gateway: Gateway;
  let nats: NatsConnection;
  let upstream: TestUpstream;
  let release: () => void = () => undefined;
  let route: { id: string; name: string };
  let tokenId: string;
  let secret: string;

  beforeAll(async () => {
    upstream = await startUpstream((seen, response) => {
      if (seen.url.endsWith('/held')) release = () => void response.end('held');
      else response.writeHead(seen.url.endsWith('/busy') ? 429 : 201).end('made');
    });
    gateway = await startGateway({ env: { LOG_LEVEL: 'trace' } });
    nats = await connect({ servers: gateway.stack.natsUrl });
    const rate_limit = { limit: 50, window_seconds: 86_400, per: 'token' };
    const { id } = await gateway.service({ url: upstream.url });
    const made = await gateway.route({ name: 'orders', service_id: id, rate_limit });
    route = { id: made.id, name: 'orders' };
    ({ tokenId, token: secret } = await gateway.tokenClient({ scopes: ['proxy'] }));
    await gateway.settled();
  }, startTimeoutMs);
  afterAll(async () => {
    await nats.close();
    await gateway.close();
    await upstream.close();
  });

  /** The number of the last message of the stream. */
  async function lastWriteOf(stream: string): Promise<string> {
    const { state } = (await nats.request(`$JS.API.STREAM.INFO.${stream}`)).json<StreamInfo>();
    return `${stream} ${state.last_seq}`;
  }

  async function effects(): Promise<Effects> {
    const { adminUrl } = gateway.dataPlanes[0] ?? {};
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    const metrics = text
      .split('\n')
      .filter((line) => line.startsWith('gateway_') && !OF_THE_BACKGROUND.test(line));
    const streams = await Promise.all(STREAMS.map(lastWriteOf));
    const records = (await gateway.admin.get('/v1/requests?limit=200')).page().data.length;
    return { metrics, streams, records, arrived: upstream.seen.length };
  }

  const question = (key: string) => ({
    method: 'POST',
    headers: { 'Idempotency-Key': key },
    body: '{}',
    token_id: tokenId,
  });
  const send = (key: string, path = '') =>
    gateway.admin.withToken(secret).proxy(route.name + path, {
      headers: { 'idempotency-key': key },
      body: '{}',
    });

  it('leave quota, keys, records, slots and metrics as they are', async () => {
    // What still goes on after the start: the first checks of the upstreams, and the records of the requests that waited
    // for the configuration, which are sent, and then stored, some time later.
    const before = await eventually(async () => {
      const [one, two] = [await effects(), await effects()];
      expect(two).toEqual(one);
      expect(two.metrics).toContain(`gateway_records_sent_total ${two.records}`);
      expect(two.metrics).toContain('gateway_upstreams{health="unknown"} 0');
      return two;
    });
    for (let call = 0; call < CALLS; call += 1) {
      const said = await explain(gateway, route.id, question('first'));
      expect(said.outcome).toMatchObject({ decision: 'forward', stage: 'forward' });
      expect(said.quota).toMatchObject({ limit: 50, remaining: 49 });
      expect(said.idempotency).toEqual({ state: 'free', first_request_id: null });
    }
    expect(await effects()).toEqual(before);
    const answer = await send('first');
    expect([answer.status, answer.headers.get('x-ratelimit-remaining')]).toEqual([201, '49']);
  });

  it('then say which request has the key, and what happens to another one', async () => {
    const first = (await send('second')).headers.get('x-request-id');
    const stored = await eventually(async () => {
      const said = await explain(gateway, route.id, question('second'));
      expect(said.outcome.decision).toBe('answer');
      return said;
    });
    expect(stored.outcome).toMatchObject({ stage: 'idempotency', status: 201 });
    expect(stored.idempotency).toEqual({ state: 'stored', first_request_id: first });
    const other = { ...question('second'), body: '{"other":true}' };
    const conflict = await explain(gateway, route.id, other);
    expect(conflict.outcome).toMatchObject({ status: 409, code: 'idempotency_conflict' });
    expect(conflict.idempotency).toEqual({ state: 'conflict', first_request_id: first });
  });

  it('say that a request waits while the first one with its key is in flight', async () => {
    const sent = send('third', '/held');
    const asked = { ...question('third'), path: '/held' };
    const said = await eventually(async () => {
      const explained = await explain(gateway, route.id, asked);
      expect(explained.outcome.decision).toBe('wait');
      return explained;
    });
    expect(said.idempotency?.state).toBe('in_flight');
    await eventually(() => {
      expect(upstream.seen.some(({ url }) => url.endsWith('/held'))).toBe(true);
    });
    const busy = await explain(gateway, route.id, question('fourth'));
    expect(busy.upstreams?.[0]?.in_flight).toBe(1);
    release();
    const answer = await sent;
    expect(said.idempotency?.first_request_id).toBe(answer.headers.get('x-request-id'));
  });

  it('say that the same request runs again after a repeatable status, and that a route stores no keys', async () => {
    const first = (await send('fifth', '/busy')).headers.get('x-request-id');
    const asked = { ...question('fifth'), path: '/busy' };
    const expected = async (state: string, first_request_id: string | null) => {
      await eventually(async () => {
        const { outcome, idempotency } = await explain(gateway, route.id, asked);
        expect(idempotency).toEqual({ state, first_request_id });
        expect(outcome.decision).toBe('forward');
      });
    };
    await expected('repeatable', first);
    await gateway.admin.patch(`/v1/routes/${route.id}`, { idempotency: { mode: 'off' } });
    await expected('passed_on', null);
  });

  it('never show a header value, and leave none in a log', async () => {
    const value = 'a-secret-of-the-caller';
    const headers = { 'X-Custom': value, Authorization: `Bearer ${value}` };
    const answer = await gateway.admin.post(`/v1/routes/${route.id}/explain`, {
      headers,
      query: value,
      body: value,
    });
    expect(answer.status).toBe(200);
    expect(answer.body).not.toContain(value);
    expect(answer.body).toContain('no_token_in_credential');
    for (const { logFile } of [gateway.controlPlane, ...gateway.dataPlanes]) {
      expect(await readFile(logFile, 'utf8')).not.toContain(value);
    }
  });
});
