import { readFile } from 'node:fs/promises';
import { alterDatabase } from '@gateway/testing/alter-database';
import { startPgBouncer, type PgBouncerOptions } from '@gateway/testing/pgbouncer';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { UndoList } from '@gateway/shared/test/undo-list';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createClient } from '../harness/client.ts';
import { hasLogged } from '../faults/harness/log-lines.ts';
import { startRecordingUpstream } from '../harness/upstream.ts';
import { runPlane } from './run-plane.ts';

const testTimeoutMs = 90_000;
const IGNORED = ['statement_timeout', 'idle_in_transaction_session_timeout'];
const WRITES = 40;

describe('a control plane behind PgBouncer', () => {
  const undo = new UndoList();
  afterEach(async () => {
    await undo.run();
  });

  async function open(
    poolMode: 'transaction' | 'session',
    options: Pick<PgBouncerOptions, 'ignoredParameters' | 'poolSize'> = {},
    prepare: (databaseUrl: string) => Promise<void> = () => Promise.resolve(),
  ): Promise<{ stack: PlaneStack; pooled: string }> {
    const stack = await createPlaneStack();
    undo.add(() => stack.close());
    const { databaseUrl } = stack;
    // Connections that PgBouncer has opened keep the settings of the role.
    await prepare(databaseUrl);
    const defaults = { databaseUrl, poolMode, ignoredParameters: IGNORED };
    const pgBouncer = await startPgBouncer({ ...defaults, ...options });
    undo.add(() => pgBouncer.stop());
    return { stack, pooled: pgBouncer.through(databaseUrl) };
  }

  /** Writes side by side, one key twice, traffic, and the records of it. */
  async function works(stack: PlaneStack, env: NodeJS.ProcessEnv): Promise<void> {
    const upstream = await startRecordingUpstream();
    undo.add(() => upstream.close());
    const planes = [
      await stack.startControlPlane({ env }),
      await stack.startControlPlane({ env }),
    ] as const;
    const dataPlane = await stack.startDataPlane();
    const clients = planes.map(({ baseUrl }) => createClient(baseUrl, stack.adminToken));
    const [client = createClient('', '')] = clients;
    const { id } = await client.create('/v1/services', {
      name: 'shared',
      environment: 'production',
      url: upstream.url,
    });
    const made = await Promise.all(
      Array.from({ length: WRITES }, async (_, index) => {
        const body = { name: `route-${index}`, service_id: id };
        const one = clients[index % clients.length] ?? client;
        const headers = { 'idempotency-key': `key-${index}` };
        const both = [1, 2].map(() => one.call('POST', '/v1/routes', { body, headers }));
        return (await Promise.all(both)).map(({ status }) => status);
      }),
    );
    for (const statuses of made) expect(statuses).toContain(201);
    const page = (await client.get('/v1/routes?limit=200')).page();
    expect(page.data).toHaveLength(WRITES);
    const traffic = client.at(dataPlane.baseUrl);
    const ids: string[] = [];
    for (let index = 0; index < WRITES; index += 1) {
      const answer = await eventually(async () => {
        const found = await traffic.proxy(`route-${index}`);
        if (found.status !== 200) throw new Error(`not served yet: ${found.status}`);
        return found;
      });
      ids.push(answer.headers.get('x-request-id') ?? '');
    }
    for (const request of ids)
      await eventually(async () =>
        expect((await client.get(`/v1/requests/${request}`)).status).toBe(200),
      );
    for (const { adminUrl } of planes) expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200);
  }

  it(
    'in transaction mode serves everything if DATABASE_DIRECT_URL leads past it, and says which settings it ignores',
    async () => {
      const { stack, pooled } = await open('transaction');
      const env = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: stack.databaseUrl };
      await works(stack, env);
      const plane = await stack.startControlPlane({ env });
      expect(await hasLogged(plane, '"WARN"', 'ignored by a pooler', 'statement_timeout')).toBe(
        true,
      );
    },
    testTimeoutMs,
  );

  it(
    'says nothing about settings that the role has',
    async () => {
      const { stack, pooled } = await open('transaction', {}, async (databaseUrl) => {
        const { username, pathname } = new URL(databaseUrl);
        for (const setting of IGNORED) {
          const role = `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)}`;
          await alterDatabase(databaseUrl, `${role} SET ${setting} = '5s'`, []);
        }
      });
      const env = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: stack.databaseUrl };
      const plane = await stack.startControlPlane({ env });
      expect(await hasLogged(plane, '"ready"')).toBe(true);
      expect(await readFile(plane.logFile, 'utf8')).not.toContain('ignored by a pooler');
    },
    testTimeoutMs,
  );

  it(
    'in session mode serves everything without DATABASE_DIRECT_URL',
    async () => {
      const { stack, pooled } = await open('session', { poolSize: 100 });
      await works(stack, { DATABASE_URL: pooled });
    },
    testTimeoutMs,
  );

  it.each([
    [
      'transaction mode without DATABASE_DIRECT_URL',
      IGNORED,
      /^control plane cannot start: DATABASE_URL leads to a pooler that keeps no sessions, .*; set DATABASE_DIRECT_URL/,
    ],
    [
      'transaction mode that refuses settings of connections',
      [],
      /^control plane cannot start: the pooler of DATABASE_URL refuses .*ignore_startup_parameters = statement_timeout,/,
    ],
  ])(
    'does not start in %s, and says in one line what to set',
    async (_mode, ignoredParameters, reason) => {
      const { stack, pooled } = await open('transaction', { ignoredParameters });
      const { code, lines } = await runPlane('control-plane', {
        DATABASE_URL: pooled,
        GATEWAY_MASTER_KEYS: stack.masterKeys,
        NATS_URL: stack.natsUrl,
        CONTROL_PLANE_PORT: '0',
        CONTROL_PLANE_ADMIN_PORT: '0',
        LOG_LEVEL: 'error',
      });
      expect(code).toBe(1);
      const fatal = lines.map((line) => JSON.parse(line) as { body: string });
      expect(fatal.map(({ body }) => body)).toEqual([expect.stringMatching(reason)]);
    },
    testTimeoutMs,
  );
});
