import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { recordIds } from '@gateway/testing/record-ids';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '../../harness/client.ts';

const testTimeoutMs = 180_000;
const restartMs = 60_000;
const PLANES = 3;
const CHANGES = 200;
const CALLERS = 4;

interface Line {
  readonly body: string;
  readonly 'gateway.environment'?: string;
  readonly 'gateway.version'?: number;
}

describe('three control planes, each restarted in turn', () => {
  let stack: PlaneStack;
  let upstream: TestUpstream;
  /** Every process that was started, to read its log. */
  const started: ServiceProcess[] = [];
  /** The running ones, by index. */
  const running: ServiceProcess[] = [];
  let dataPlane: ServiceProcess;
  let traffic: Client;

  beforeAll(async () => {
    stack = await createPlaneStack();
    upstream = await startUpstream();
    await Promise.all(Array.from({ length: PLANES }, (_, place) => start(place)));
    dataPlane = await stack.startDataPlane();
    traffic = createClient(dataPlane.baseUrl, stack.adminToken);
  }, testTimeoutMs);
  afterAll(async () => {
    await stack.close();
    await upstream.close();
  });

  async function start(place: number): Promise<void> {
    const plane = await stack.startControlPlane();
    started.push(plane);
    running[place] = plane;
  }

  const clientOf = (place: number): Client =>
    createClient(running[place % PLANES]?.baseUrl ?? '', stack.adminToken);

  /** Creates a route at this control plane or, if it is down, at the next one. */
  async function makeRoute(name: string, service_id: string, first: number): Promise<void> {
    for (let place = first; ; place += 1) {
      try {
        const body = { name, service_id };
        const { status } = await clientOf(place).call('POST', '/v1/routes', { body });
        // It was created, but the response was lost.
        if (status === 201 || (status === 409 && place > first)) return;
        expect(status).toBe(503);
      } catch (error) {
        // Refused or reset, because the control plane is stopping. fetch's errors come from another realm.
        if ((error as Error).name !== 'TypeError') throw error;
      }
      await delay(20);
    }
  }

  async function publishedVersions(): Promise<readonly number[]> {
    const texts = await Promise.all(started.map(({ logFile }) => readFile(logFile, 'utf8')));
    return texts
      .flatMap((text) => text.split('\n').filter((line) => line.startsWith('{')))
      .map((line) => JSON.parse(line) as Line)
      .filter(
        (line) =>
          line.body === 'configuration published' && line['gateway.environment'] === 'production',
      )
      .map((line) => line['gateway.version'] ?? 0)
      .toSorted((a, b) => a - b);
  }

  it(
    'lose no change, skip or repeat no version, and store each record once',
    async () => {
      const { id } = await clientOf(0).create('/v1/services', {
        name: 'orders',
        environment: 'production',
        url: upstream.url,
      });
      await makeRoute('calls', id, 0);
      await eventually(async () => expect((await traffic.proxy('calls')).status).toBe(200));

      let made = 0;
      const changing = Array.from({ length: CALLERS }, async () => {
        while (made < CHANGES) {
          made += 1;
          const change = made;
          await makeRoute(`route-${change}`, id, change);
        }
      });
      const ids: string[] = [];
      const until = new AbortController();
      const calling = (async () => {
        while (!until.signal.aborted) {
          const answer = await traffic.proxy('calls');
          expect(answer.status).toBe(200);
          ids.push(answer.headers.get('x-request-id') ?? '');
        }
      })();
      for (let place = 0; place < PLANES; place += 1) {
        const before = made;
        expect(await running[place]?.stop()).toEqual({ code: 0, signal: null });
        await start(place);
        await eventually(() => expect(made).toBeGreaterThan(Math.min(before + 10, CHANGES - 1)), {
          deadlineMs: restartMs,
        });
      }
      await Promise.all(changing);
      until.abort();
      await calling;

      for (let change = 1; change <= CHANGES; change += 1) {
        await eventually(
          async () => expect((await traffic.proxy(`route-${change}`)).status).toBe(200),
          { deadlineMs: restartMs },
        );
      }
      // A log line is written up to 200 ms after its event.
      await eventually(async () => {
        const versions = await publishedVersions();
        expect(versions).toEqual(versions.map((_, index) => index + 1));
        const last = versions.length;
        const [plane] = (await clientOf(0).get('/v1/data-planes?environment=production')).page()
          .data;
        const served = [{ version: last, newest_version: last, versions_behind: 0 }];
        expect(plane?.['environments']).toMatchObject(served);
      });
      await eventually(
        async () => {
          const stored = await recordIds(stack.databaseUrl);
          expect(new Set(stored).size).toBe(stored.length);
          expect(ids.filter((one) => !stored.includes(one))).toEqual([]);
        },
        { deadlineMs: restartMs },
      );
    },
    testTimeoutMs,
  );
});
