import { describe, expect, it } from '@jest/globals';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startRawUpstream, startUpstream } from '@gateway/shared/test/upstream';
import { startGrpcDataPath } from '../../test/grpc-call.ts';
import { patientClock } from '../../test/patient-clock.ts';
import { SlowQuotas } from '../../test/slow-quotas.ts';
import { parseGrpcTimeoutMs } from '../text/grpc-timeout.ts';

const opened = closeAfterEach();

async function setUp(route: Partial<SnapshotRoute> = {}) {
  const upstream = opened(await startUpstream());
  const gateway = opened(await startGrpcDataPath({ upstreams: [upstream.url], ...route }));
  /** What each attempt told the upstream. */
  const sent = () => upstream.seen.map(({ headers }) => headers['grpc-timeout']);
  const sentMs = () => sent().map((value) => parseGrpcTimeoutMs(String(value)) ?? NaN);
  return { gateway, sent, sentMs };
}

describe('the deadline of a gRPC call', () => {
  it('goes upstream as what is left: of the time of the route, or of the caller if that is less', async () => {
    const { gateway, sentMs } = await setUp({ timeout_ms: 20_000 });
    await gateway.grpc();
    await gateway.grpc({ 'grpc-timeout': '10S' });
    await gateway.grpc({ 'grpc-timeout': '1H' });
    const [own = NaN, callers = NaN, longer = NaN] = sentMs();
    expect(own).toBeLessThanOrEqual(20_000);
    expect(own).toBeGreaterThan(10_000);
    expect(callers).toBeLessThanOrEqual(10_000);
    expect(callers).toBeGreaterThan(0);
    expect(longer).toBeLessThanOrEqual(20_000);
    expect(longer).toBeGreaterThan(10_000);
  });

  it('is less at each further attempt', async () => {
    const upstream = opened(
      await startUpstream((_seen, response) => void response.writeHead(503).end()),
    );
    const retry = { on_statuses: [503], per_attempt_timeout_ms: null, backoff_ms: 1 };
    const gateway = opened(
      await startGrpcDataPath({
        upstreams: [upstream.url],
        timeout_ms: 300_000,
        retry: { ...retry, unsafe_methods: 'always' },
      }),
    );
    // Below a second it is sent in microseconds.
    await gateway.grpc({ 'grpc-timeout': '900m' });
    const sent = upstream.seen.map(({ headers }) =>
      parseGrpcTimeoutMs(String(headers['grpc-timeout'])),
    ) as number[];
    expect(sent.length).toBeGreaterThan(1);
    expect(sent).toEqual([...new Set(sent)].sort((a, b) => b - a));
  });

  it('is on a route of streams that of the caller alone', async () => {
    const { gateway, sent, sentMs } = await setUp({ timeout_ms: 20_000, streaming: true });
    await gateway.grpc();
    await gateway.grpc({ 'grpc-timeout': '1H' });
    expect(sent()[0]).toBeUndefined();
    expect(sentMs()[1]).toBeGreaterThan(3_000_000);
  });

  it.each(['1', '1s', '-1S', '123456789S', '1S, 2S'])('is refused if it is %s', async (value) => {
    const { gateway, sent } = await setUp();
    const answer = await gateway.grpc({ 'grpc-timeout': value });
    expect(answer.status).toBe(400);
    expect(answer.headers).toMatchObject({
      'x-gateway-error': 'invalid_request',
      'grpc-status': '3',
    });
    expect(answer.headers['grpc-message']).toContain('grpc-timeout must be');
    expect(sent()).toEqual([]);
  });

  it.each(['1S', 'soon'])('is no deadline of another request: %s goes on', async (value) => {
    const { gateway, sent } = await setUp();
    const fields = { 'content-type': 'application/grpc-web', 'grpc-timeout': value };
    expect((await gateway.grpc(fields)).status).toBe(200);
    expect(sent()).toEqual([value]);
  });

  it('of the caller passes with 504, and is no fault of the upstream', async () => {
    const silent = opened(await startRawUpstream((socket) => void socket.resume()));
    const gateway = opened(
      await startGrpcDataPath(
        { upstreams: [silent.url], timeout_ms: 300_000 },
        { clock: patientClock },
      ),
    );
    for (let call = 0; call < 6; call += 1) {
      const answer = await gateway.grpc({ 'grpc-timeout': '200m' });
      expect(answer.status).toBe(504);
      expect(answer.headers).toMatchObject({
        'x-gateway-error': 'upstream_timeout',
        'grpc-status': '4',
      });
      expect(answer.headers['grpc-message']).toContain('The deadline of the caller (grpc-timeout)');
    }
    expect(gateway.records[0]).toMatchObject({
      outcome: 'timeout',
      error_code: 'upstream_timeout',
    });
    expect(await gateway.registry.metrics()).not.toMatch(/ejections_total\{[^}]*\} [1-9]/);
  });

  it('of the caller is why a call ends that waits for its quota, not that the quota is unavailable', async () => {
    const upstream = opened(await startUpstream());
    const quotas = new SlowQuotas();
    const gateway = opened(await startGrpcDataPath({ upstreams: [upstream.url] }, { quotas }));
    for (const timeout of ['0S', '1n', '100m']) {
      const answer = await gateway.grpc({ 'grpc-timeout': timeout });
      expect(answer).toMatchObject({ status: 504, isTrailersOnly: true });
      expect(answer.headers).toMatchObject({
        'x-gateway-error': 'upstream_timeout',
        'grpc-status': '4',
      });
      expect(answer.headers).not.toHaveProperty('retry-after');
    }
    expect(quotas.waiting).toHaveLength(3);
    expect(upstream.seen).toEqual([]);
    const told = gateway.records.map(({ outcome, error_code: code }) => [outcome, code]);
    expect(told).toEqual(Array.from({ length: 3 }, () => ['timeout', 'upstream_timeout']));
  });

  it('that has passed already is no reason to call the upstream', async () => {
    const { gateway, sent } = await setUp();
    const answer = await gateway.grpc({ 'grpc-timeout': '0m' });
    expect(answer).toMatchObject({ status: 504, isTrailersOnly: true });
    expect(answer.headers['x-gateway-error']).toBe('upstream_timeout');
    expect(sent()).toEqual([]);
  });
});
