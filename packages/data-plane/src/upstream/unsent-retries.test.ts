import { describe, expect, it } from '@jest/globals';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { closedPort, startUpstream } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { BODIES, type Body } from '../../test/request-bodies.ts';

const opened = closeAfterEach();

describe('retries of requests that were not sent', () => {
  it.each<[string, Body]>([
    ['POST', 'small'],
    ['POST', 'none'],
    ['PATCH', 'kept_stream'],
    ['POST', 'long_stream'],
    ['GET', 'none'],
  ])('go to another upstream: %s with body %s', async (method, body) => {
    const alive = opened(await startUpstream());
    const dead = `http://127.0.0.1:${await closedPort()}`;
    const gateway = opened(
      await startTestDataPath({ upstreams: [dead, dead, alive.url], retry_count: 2 }),
    );
    for (let call = 0; call < 8; call += 1) {
      const response = await gateway.call('test', { method, ...BODIES[body]() });
      expect(response.status).toBe(200);
      const { attempts, retry_count: retries, upstream } = await gateway.recordOf(response);
      expect(attempts.at(-1)).toMatchObject({ upstream: 'ups_2', status: 200 });
      expect(new Set(attempts.map((attempt) => attempt.upstream)).size).toBe(attempts.length);
      expect(retries).toBe(attempts.length - 1);
      expect(upstream?.id).toBe('ups_2');
    }
    expect(alive.seen).toHaveLength(8);
    expect(gateway.records.some((record) => record.retry_count > 0)).toBe(true);
    const length = { none: 0, small: 5, kept_stream: 1000, long_stream: 200_000 }[body];
    for (const seen of alive.seen) expect(seen.body).toHaveLength(length);
  });

  it.each([
    ['none of it is kept', '0'],
    ['its beginning was kept', '1000'],
  ])('are made for a streaming body of which nothing was sent: %s', async (_case, bytes) => {
    const upstreams = [`http://127.0.0.1:${await closedPort()}`];
    const environment = { MAX_RETRY_BODY_BYTES: bytes };
    const gateway = opened(await startTestDataPath({ upstreams, retry_count: 3 }, { environment }));
    const response = await gateway.call('test', { method: 'PUT', ...BODIES.long_stream() });
    await expectRefusal(response, 502, 'upstream_unavailable');
    expect((await gateway.recordOf(response)).attempts).toHaveLength(4);
  });

  it('send the whole body if only its beginning was kept', async () => {
    const alive = opened(await startUpstream());
    const upstreams = [alive.url, `http://127.0.0.1:${await closedPort()}`];
    const environment = { MAX_RETRY_BODY_BYTES: '1000' };
    const gateway = opened(await startTestDataPath({ upstreams, retry_count: 1 }, { environment }));
    for (let call = 0; call < 20; call += 1) {
      const init = { method: 'PUT', ...BODIES.long_stream() };
      expect((await gateway.call('test', init)).status).toBe(200);
    }
    for (const seen of alive.seen) expect(seen.body).toHaveLength(200_000);
    expect(gateway.records.some((record) => record.retry_count === 1)).toBe(true);
  });
});
