import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { http2Call } from '../http2-call.ts';
import { startCountingUpstream } from '../keyed-request.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startSecureDataPath } from '../secure-data-path.ts';
import { startUpstream } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();

async function open(route: Parameters<typeof startSecureDataPath>[0]) {
  const gateway = opened(await startSecureDataPath(route));
  const session = opened(gateway.connectHttp2());
  const call = (fields: Record<string, string>, body?: string) =>
    http2Call(session, { authorization: `Bearer ${gateway.token}`, ...fields }, body);
  return { gateway, call };
}

describe('over HTTP/2', () => {
  it('a hundred duplicates of a keyed request on one connection run once, and get the same response', async () => {
    const upstream = opened(await startCountingUpstream());
    const { gateway, call } = await open({ upstreams: [upstream.url] });
    const keyed = { ':method': 'POST', 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 100 }, () => call(keyed, 'pay 5')));
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]).toMatchObject({ method: 'POST', body: 'pay 5' });
    const bodies = new Set(answers.map(({ status, body }) => `${status} ${body}`));
    expect([...bodies]).toEqual([expect.stringMatching(/^201 \{"number":1,/)]);
    for (const { complete, headers } of answers) {
      expect(complete).toBe(true);
      expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
    }
    const replayed = answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true');
    expect(replayed).toHaveLength(99);
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(100);
    const other = await call(keyed, 'pay 6');
    expect(other.status).toBe(409);
    expect(other.headers['x-gateway-error']).toBe('idempotency_conflict');
    const record = await gateway.recordOf(String(other.headers['x-request-id']));
    expect(record.attempts).toEqual([]);
  });

  it('an empty or too long key is refused, and the field is named', async () => {
    const upstream = opened(await startCountingUpstream());
    const { call } = await open({ upstreams: [upstream.url] });
    for (const key of ['', 'x'.repeat(256)]) {
      const answer = await call({ ':method': 'POST', 'idempotency-key': key }, 'pay 5');
      expect(answer.status).toBe(400);
      expect(answer.body).toContain('"path":"idempotency-key"');
    }
    expect(upstream.seen).toHaveLength(0);
  });

  it('a request with a body is retried only if its method allows it', async () => {
    const upstream = await startUpstream((seen, response) => {
      const first = upstream.seen.filter(({ url }) => url === seen.url).length === 1;
      response.writeHead(first ? 503 : 200).end(seen.body);
    });
    opened(upstream);
    const { gateway, call } = await open({ upstreams: [upstream.url] });
    const put = await call({ ':method': 'PUT', ':path': '/v1/proxy/test/put' }, 'kept');
    expect(put).toMatchObject({ status: 200, body: 'kept', complete: true });
    const record = await gateway.recordOf(String(put.headers['x-request-id']));
    expect(record.attempts.map((attempt) => attempt.status)).toEqual([503, 200]);
    const post = await call({ ':method': 'POST', ':path': '/v1/proxy/test/post' }, 'once');
    expect(post).toMatchObject({ status: 503, body: 'once' });
    expect(upstream.seen).toHaveLength(3);
  });
});
