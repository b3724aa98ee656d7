import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { freeze, thaw } from '@gateway/shared/test/freeze';
import type { Answer } from '../harness/client.ts';
import { startKeyedRequests, type KeyedRequests } from './keyed-requests.ts';

const startTimeoutMs = 60_000;
const testTimeoutMs = 60_000;

describe('a request with an idempotency key while NATS is away', () => {
  let keyed: KeyedRequests;

  beforeAll(async () => {
    keyed = await startKeyedRequests();
  }, startTimeoutMs);
  afterAll(() => keyed.close());

  it(
    'is refused with 503 soon if NATS is down, one without a key is served, and the key can be used afterwards',
    async () => {
      const { gateway, upstream, held, route, send } = keyed;
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
    'is refused with 503 within three seconds if NATS hangs, and the key can be used soon afterwards',
    async () => {
      const { gateway, upstream, held, route, send } = keyed;
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
