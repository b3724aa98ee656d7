import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { freeze, thaw } from '@gateway/shared/test/freeze';
import type { Answer } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';

const startTimeoutMs = 60_000;
const testTimeoutMs = 60_000;
const mib = 1024 * 1024;

const largeBody = (size: number) => Buffer.alloc(size, 'binary \u0000\u00ff', 'latin1');

describe('a request with an idempotency key, across three data planes', () => {
  let gateway: Gateway;
  let upstream: TestUpstream;
  /** Responses that the test sends, in the order of the requests. */
  const held: (() => void)[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ dataPlanes: 3 });
    upstream = await startUpstream((seen, response) => {
      const [, kind, size] = new URL(seen.url, 'http://upstream').pathname.split('/');
      const number = upstream.seen.length;
      if (kind === 'large') {
        response.end(largeBody(Number(size)));
        return;
      }
      held.push(() => {
        if (response.headersSent) return;
        response.writeHead(202, { 'content-type': 'text/plain', 'x-arrival': String(number) });
        response.end(`arrival ${number} \u0000\u00e9`);
      });
    });
  }, startTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });

  async function route(fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const service = await gateway.service({ url: upstream.url });
    const made = await gateway.route({ service_id: service.id, timeout_ms: 20_000, ...fields });
    await gateway.settled();
    held.length = 0;
    upstream.seen.length = 0;
    return String(made['name']);
  }

  const send = (plane: number, name: string, key: string): Promise<Answer> => {
    const { baseUrl } =
      gateway.dataPlanes[plane % gateway.dataPlanes.length] ?? gateway.controlPlane;
    return gateway.admin.at(baseUrl).proxy(name, {
      headers: { 'idempotency-key': key },
      body: { amount: 5 },
    });
  };

  async function waiting(): Promise<number> {
    const texts = await Promise.all(
      gateway.dataPlanes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
    );
    const counts = texts.map((text) => /^gateway_idempotency_waiting (\d+)$/m.exec(text)?.[1]);
    return counts.reduce((sum, count) => sum + Number(count), 0);
  }

  it(
    'reaches the upstream once if it is sent 100 times in parallel, and gets 100 equal responses, 99 of them replays',
    async () => {
      const name = await route();
      const key = randomUUID();
      const sent = Array.from({ length: 100 }, (_, index) => send(index, name, key));
      await eventually(async () => expect(await waiting()).toBe(99));
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
    'is replayed byte for byte on another data plane if the response has exactly 1 MiB; a replay of a larger one is refused',
    async () => {
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

  it(
    'is refused with 503 soon while NATS is down, one without a key is served, and the key can be used afterwards',
    async () => {
      const name = await route();
      await gateway.stack.nats.stop();
      const key = randomUUID();
      await eventually(async () => {
        const startedMs = performance.now();
        const answer = await send(0, name, key);
        expect([answer.status, answer.headers.get('x-gateway-error')]).toEqual([
          503,
          'idempotency_unavailable',
        ]);
        expect(performance.now() - startedMs).toBeLessThan(3000);
      });
      expect(upstream.seen).toHaveLength(0);
      const unkeyed = gateway.admin.proxy(name);
      await eventually(() => expect(held.length).toBe(1));
      held[0]?.();
      expect((await unkeyed).status).toBe(202);

      await gateway.stack.restartNats();
      const answers: Answer[] = [];
      await eventually(
        async () => {
          const pending = send(1, name, key);
          const release = setInterval(() => held[1]?.(), 20);
          answers.push(await pending.finally(() => clearInterval(release)));
          expect(answers.at(-1)?.status).toBe(202);
        },
        { deadlineMs: 20_000 },
      );
      expect(upstream.seen).toHaveLength(2);
      // Each data plane reconnects to NATS at its own time.
      await eventually(async () => {
        const { status, headers } = await send(2, name, key);
        expect([status, headers.get('idempotent-replayed')]).toEqual([202, 'true']);
      });
      expect(upstream.seen).toHaveLength(2);
    },
    testTimeoutMs,
  );

  it(
    'is refused with 503 within three seconds while NATS hangs, and the key can be used soon afterwards',
    async () => {
      const name = await route();
      const { pid } = gateway.stack.nats;
      const key = randomUUID();
      await freeze(pid);
      try {
        const startedMs = performance.now();
        const answer = await send(0, name, key);
        expect([answer.status, answer.headers.get('x-gateway-error')]).toEqual([
          503,
          'idempotency_unavailable',
        ]);
        expect(performance.now() - startedMs).toBeLessThan(3000);
      } finally {
        thaw(pid);
      }
      const again = send(1, name, key);
      await eventually(() => expect(held.length).toBe(1));
      held[0]?.();
      const answer = await again;
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([202, null]);
      expect(upstream.seen).toHaveLength(1);
    },
    testTimeoutMs,
  );
});
