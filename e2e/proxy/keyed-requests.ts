import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import type { Answer } from '../harness/client.ts';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { SHORT_QUOTA, shareQuotas } from '../harness/quota-shares.ts';

/** Three data planes, and an upstream whose responses the test sends. */
export interface KeyedRequests {
  readonly gateway: Gateway;
  readonly upstream: TestUpstream;
  /** Responses that the test sends, in the order of the requests. */
  readonly held: (() => void)[];
  /** Creates a route, and forgets the requests and responses so far. Returns its name. */
  readonly route: (fields?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Sends the same request with a key to a data plane. */
  readonly send: (plane: number, name: string, key: string) => Promise<Answer>;
  /** How many requests wait for the response of another one with their key. */
  readonly waiting: () => Promise<number>;
  close(): Promise<void>;
}

/** The path of an upstream that answers 429 to this many requests, and 202 to all others. */
export const busyPath = (times: number) => `/busy/${times}`;

/** The body of the response to `/large/{size}`, which is sent at once. */
export const largeBody = (size: number) => Buffer.alloc(size, 'binary \u0000\u00ff', 'latin1');

/** Starts the data planes and the upstream. */
export async function startKeyedRequests(): Promise<KeyedRequests> {
  const held: (() => void)[] = [];
  const gateway = await startGateway({ dataPlanes: 3 });
  await shareQuotas(gateway.dataPlanes);
  const upstream = await startUpstream((seen, response) => {
    const [, kind, size] = new URL(seen.url, 'http://upstream').pathname.split('/');
    const number = upstream.seen.length;
    if (kind === 'large') {
      response.end(largeBody(Number(size)));
      return;
    }
    if (kind === 'busy') {
      response.writeHead(number <= Number(size) ? 429 : 202).end(`arrival ${number}`);
      return;
    }
    held.push(() => {
      if (response.headersSent) return;
      response.writeHead(202, { 'content-type': 'text/plain', 'x-arrival': String(number) });
      response.end(`arrival ${number} \u0000\u00e9`);
    });
  });

  return {
    gateway,
    upstream,
    held,
    async route(fields = {}) {
      const service = await gateway.service({ url: upstream.url });
      const made = await gateway.route({
        service_id: service.id,
        timeout_ms: 20_000,
        rate_limit: SHORT_QUOTA,
        ...fields,
      });
      await gateway.settled();
      held.length = 0;
      upstream.seen.length = 0;
      return String(made['name']);
    },
    send(plane, name, key) {
      const { baseUrl } =
        gateway.dataPlanes[plane % gateway.dataPlanes.length] ?? gateway.controlPlane;
      return gateway.admin.at(baseUrl).proxy(name, {
        headers: { 'idempotency-key': key },
        body: { amount: 5 },
      });
    },
    async waiting() {
      const texts = await Promise.all(
        gateway.dataPlanes.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics`)).text()),
      );
      const counts = texts.map((text) => /^gateway_idempotency_waiting (\d+)$/m.exec(text)?.[1]);
      return counts.reduce((sum, count) => sum + Number(count), 0);
    },
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}
