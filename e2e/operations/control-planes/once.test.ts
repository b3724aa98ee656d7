import { readFile } from 'node:fs/promises';
import type { ServiceProcess } from '@gateway/local-stack/stack/service-process';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { recordIds } from '@gateway/testing/record-ids';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { eventually } from '@gateway/shared/test/eventually';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '../../harness/client.ts';
import { metricOf, metricsText } from '../../soak/process-samples.ts';
import { isError, type LogLine } from '../../harness/log-line.ts';

const testTimeoutMs = 90_000;
const PLANES = 3;
const CHANGES_EACH = 15;
const CALLS = 300;

interface Line extends LogLine {
  readonly 'gateway.environment'?: string;
  readonly 'gateway.version'?: number;
  readonly 'gateway.form'?: string;
  readonly 'gateway.table'?: string;
  readonly 'gateway.from'?: string;
  readonly 'gateway.state'?: string;
}

describe('three control planes that start at once on an empty database', () => {
  let stack: PlaneStack;
  let upstream: TestUpstream;
  let planes: readonly ServiceProcess[];
  let clients: readonly Client[];
  let admin: Client;
  /** Calls a data plane. */
  let traffic: Client;

  beforeAll(async () => {
    stack = await createPlaneStack({ emptyDatabase: true });
    upstream = await startUpstream();
    planes = await Promise.all(Array.from({ length: PLANES }, () => stack.startControlPlane()));
    clients = planes.map(({ baseUrl }) => createClient(baseUrl, stack.adminToken));
    admin = clients[0] ?? createClient('', '');
    traffic = admin.at((await stack.startDataPlane()).baseUrl);
  }, testTimeoutMs);
  afterAll(async () => {
    await stack.close();
    await upstream.close();
  });

  /** The log lines of each of the three. */
  async function logged(): Promise<readonly Line[]> {
    const texts = await Promise.all(planes.map(({ logFile }) => readFile(logFile, 'utf8')));
    return texts.flatMap((text) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Line),
    );
  }

  /** Fails if two lines are about the same thing. */
  function expectOnce(lines: readonly Line[], name: (line: Line) => string): void {
    const names = lines.map(name);
    const twice = names.filter((one, index) => names.indexOf(one) !== index);
    expect(twice).toEqual([]);
  }

  it('migrate it once, and create the first token, the environments and the partitions once', async () => {
    // A migration that runs twice finds its tables and fails.
    await eventually(async () => {
      const lines = await logged();
      expect(lines.some(({ body }) => body === 'partitions created')).toBe(true);
    });
    const lines = await logged();
    expect(lines.filter(isError)).toEqual([]);
    expect(lines.filter((line) => line['gateway.state'] === 'created')).toHaveLength(1);
    const events = (await admin.get('/v1/audit-events?action=token.created')).page().data;
    expect(events).toHaveLength(1);
    const environments = (await admin.get('/v1/environments')).page().data;
    expect(environments.map(({ name }) => name).toSorted()).toEqual(['development', 'production']);
    expect((await admin.get('/v1/tokens')).page().data).toHaveLength(1);
    expectOnce(
      lines.filter(({ body }) => body === 'partitions created'),
      (line) => `${line['gateway.table']} ${line['gateway.from']}`,
    );
  });

  it(
    'publish each version once, and no more versions than changes',
    async () => {
      const { id } = await admin.create('/v1/services', {
        name: 'orders',
        environment: 'production',
        url: upstream.url,
      });
      await Promise.all(
        clients.map(async (client, plane) => {
          for (let change = 0; change < CHANGES_EACH; change += 1) {
            const name = `route-${plane}-${change}`;
            await client.create('/v1/routes', { name, service_id: id });
          }
        }),
      );
      for (let plane = 0; plane < PLANES; plane += 1) {
        await eventually(async () => {
          const answer = await traffic.proxy(`route-${plane}-${CHANGES_EACH - 1}`);
          expect(answer.status).toBe(200);
        });
      }
      // A log line is written shortly after its event.
      await eventually(async () => {
        const published = (await logged()).filter(
          (line) =>
            line.body === 'configuration published' && line['gateway.environment'] === 'production',
        );
        expectOnce(published, (line) => String(line['gateway.version']));
        // The service, the routes, and the first version of each environment.
        expect(published.length).toBeLessThanOrEqual(PLANES * CHANGES_EACH + 2);
        const versions = published
          .map((line) => line['gateway.version'] ?? 0)
          .toSorted((a, b) => a - b);
        expect(versions).toEqual(versions.map((_, index) => index + 1));
      });
    },
    testTimeoutMs,
  );

  it(
    'store each record once together, and update the last use of its token',
    async () => {
      await eventually(async () => expect((await traffic.proxy('route-0-0')).status).toBe(200));
      const ids: string[] = [];
      for (let left = CALLS; left > 0; left -= 10) {
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => traffic.proxy('route-0-0')),
        );
        for (const { headers } of answers) ids.push(headers.get('x-request-id') ?? '');
      }
      await eventually(async () => {
        const stored = await recordIds(stack.databaseUrl);
        expect(new Set(stored).size).toBe(stored.length);
        expect(ids.filter((id) => !stored.includes(id))).toEqual([]);
      });
      // A record is counted after it is stored, and those of the requests that only waited may come last.
      await eventually(async () => {
        const texts = await Promise.all(planes.map(({ adminUrl }) => metricsText(adminUrl)));
        const sum = (name: string) =>
          texts.reduce((total, text) => {
            return total + metricOf(text, `gateway_control_plane_ingest_${name}_total`);
          }, 0);
        expect(sum('records')).toBe((await recordIds(stack.databaseUrl)).length);
        expect(sum('duplicates')).toBe(0);
      });
      await eventually(async () => {
        const [token] = (await admin.get('/v1/tokens')).page().data;
        expect(token?.['last_used_at']).toEqual(expect.any(String));
      });
    },
    testTimeoutMs,
  );

  it('log no failure', async () => {
    const lines = (await logged()).filter(isError);
    expect(lines).toEqual([]);
  });
});
