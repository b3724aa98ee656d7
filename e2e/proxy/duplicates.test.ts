import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { busyPath, largeBody, startKeyedRequests, type KeyedRequests } from './keyed-requests.ts';

const startTimeoutMs = 60_000;
const testTimeoutMs = 60_000;
const mib = 1024 * 1024;

describe('a request with an idempotency key, across three data planes', () => {
  let keyed: KeyedRequests;

  beforeAll(async () => {
    keyed = await startKeyedRequests();
  }, startTimeoutMs);
  afterAll(() => keyed.close());

  it(
    'reaches the upstream once if it is sent 100 times in parallel, and gets 100 equal responses, 99 of them replays',
    async () => {
      const { gateway, upstream, held, route, send, waiting } = keyed;
      const name = await route();
      const key = randomUUID();
      const sent = Array.from({ length: 100 }, (_, index) => send(index, name, key));
      await eventually(async () => expect(await waiting()).toBe(99));
      // They may wait before the first one has reached the upstream.
      await eventually(() => expect(held).toHaveLength(1));
      held[0]?.();
      const answers = await Promise.all(sent);
      expect(upstream.seen).toHaveLength(1);
      const own = /^(?:x-request-id|x-gateway-latency|x-ratelimit-.*|idempotent-replayed)$/;
      const given = answers.map(({ status, body, headers }) => ({
        status,
        body,
        fields: [...headers].filter(([field]) => !own.test(field)),
      }));
      expect(new Set(given.map((one) => JSON.stringify(one))).size).toBe(1);
      expect(given[0]).toMatchObject({ status: 202, body: 'arrival 1 \u0000\u00e9' });
      const marks = answers.map(({ headers }) => headers.get('idempotent-replayed'));
      expect(marks.filter((mark) => mark === 'true')).toHaveLength(99);
      expect(marks.filter((mark) => mark === null)).toHaveLength(1);
      const ids = answers.map(({ headers }) => String(headers.get('x-request-id')));
      expect(new Set(ids).size).toBe(100);

      const records = await Promise.all(
        ids.slice(0, 10).map((id) => gateway.admin.get(`/v1/requests/${id}`)),
      );
      for (const [index, record] of records.entries()) {
        const { idempotency, attempts } = record.resource();
        const isFirst = marks[index] === null;
        expect([idempotency, (attempts as unknown[]).length]).toEqual(
          isFirst ? ['first', 1] : ['replayed', 0],
        );
      }
    },
    testTimeoutMs,
  );

  it(
    'reaches the upstream once at a time if many callers repeat it until it is carried out, and then never again',
    async () => {
      const { upstream, route, send } = keyed;
      const path = (await route()) + busyPath(6);
      const key = randomUUID();
      const callers = Array.from({ length: 30 }, async (_, index) => {
        let answer = await send(index, path, key);
        // Each of them gets each response once at most.
        for (let tries = 0; answer.status === 429 && tries < 6; tries += 1) {
          answer = await send(index + tries, path, key);
        }
        return `${answer.status} ${answer.body}`;
      });
      expect(new Set(await Promise.all(callers))).toEqual(new Set(['202 arrival 7']));
      expect(upstream.seen).toHaveLength(7);
    },
    testTimeoutMs,
  );

  it(
    'is replayed byte for byte on another data plane if the response has exactly 1 MiB; a replay of a larger one is refused',
    async () => {
      const { gateway, upstream, route } = keyed;
      const bytesOf = async (plane: number, name: string, key: string) => {
        const { baseUrl } = gateway.dataPlanes[plane] ?? gateway.controlPlane;
        const response = await fetch(`${baseUrl}/v1/proxy/${name}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.admin.token}`, 'idempotency-key': key },
        });
        return { response, bytes: Buffer.from(await response.arrayBuffer()) };
      };
      for (const size of [mib, mib + 1]) {
        const service = await gateway.service({ url: `${upstream.url}/large/${size}` });
        const name = await route({ service_id: service.id });
        const key = randomUUID();
        const first = await bytesOf(0, name, key);
        const again = await bytesOf(1, name, key);
        expect(first.bytes.equals(largeBody(size))).toBe(true);
        if (size === mib) {
          expect(again.bytes.equals(first.bytes)).toBe(true);
          expect(again.response.headers.get('idempotent-replayed')).toBe('true');
        } else {
          expect([again.response.status, again.response.headers.get('x-gateway-error')]).toEqual([
            409,
            'idempotency_outcome_unknown',
          ]);
          const firstId = String(first.response.headers.get('x-request-id'));
          expect(again.bytes.toString()).toContain(firstId);
        }
        expect(upstream.seen).toHaveLength(1);
      }
    },
    testTimeoutMs,
  );

  it(
    'has an unknown outcome if its data plane is killed before the response: the next one gets 409 with the id of the first, or is forwarded once if the route allows it',
    async () => {
      const { gateway, upstream, held, route, send } = keyed;
      const refusing = await route();
      const forwarding = await route({ idempotency: { on_unknown: 'forward' } });
      const key = randomUUID();
      const doomed = await gateway.stack.startDataPlane({ name: 'doomed' });
      const client = gateway.admin.at(doomed.baseUrl);
      const options = { headers: { 'idempotency-key': key }, body: { amount: 5 } };
      const lost = [refusing, forwarding].map((name) => client.proxy(name, options));
      const outcomes = Promise.allSettled(lost);
      await eventually(() => expect(held.length).toBe(2));
      const killedAtMs = performance.now();
      await doomed.stop('SIGKILL');
      const firstIds = upstream.seen.map(({ headers }) => String(headers['x-request-id']));
      expect((await outcomes).map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);

      const refused = [send(0, refusing, key), send(1, refusing, key)];
      const forwarded = Array.from({ length: 6 }, (_, index) => send(index, forwarding, key));
      for (const answer of await Promise.all(refused)) {
        expect([answer.status, answer.headers.get('x-gateway-error')]).toEqual([
          409,
          'idempotency_outcome_unknown',
        ]);
        expect(firstIds.some((id) => answer.body.includes(id))).toBe(true);
      }
      expect(performance.now() - killedAtMs).toBeLessThan(12_000);
      await eventually(() => expect(held.length).toBe(3));
      held[2]?.();
      const marks = (await Promise.all(forwarded)).map((answer) => {
        expect(answer.status).toBe(202);
        return answer.headers.get('idempotent-replayed');
      });
      expect(marks.filter((mark) => mark === null)).toHaveLength(1);
      expect(upstream.seen).toHaveLength(3);
      expect((await send(2, refusing, key)).status).toBe(409);
      expect(upstream.seen).toHaveLength(3);
    },
    testTimeoutMs,
  );
});
