import { readFile } from 'node:fs/promises';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';
import { expectRefusal } from '@gateway/shared/test/refusal';
import { createPlaneStack, type PlaneStack } from '@gateway/testing/processes';
import { eventually } from '@gateway/shared/test/eventually';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '../harness/client.ts';
import { startRecordingUpstream } from '../harness/upstream.ts';
import { parseLogLine } from '../harness/log-line.ts';

const testTimeoutMs = 60_000;
type Plane = Awaited<ReturnType<PlaneStack['startDataPlane']>>;

describe('a plane that starts before its servers', () => {
  let stack: PlaneStack;
  let postgres: TcpGate;
  let databaseUrl: string;

  beforeEach(async () => {
    stack = await createPlaneStack();
    const url = new URL(stack.databaseUrl);
    postgres = await openTcpGate(Number(url.port));
    url.port = String(postgres.port);
    databaseUrl = url.href;
  });
  afterEach(async () => {
    await stack.close();
    await postgres.close();
  });

  const readiness = async (plane: Plane) => {
    const response = await fetch(`${plane.adminUrl}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  const expectNotReady = (plane: Plane, reason: RegExp) =>
    eventually(async () =>
      expect(await readiness(plane)).toEqual({
        status: 503,
        body: {
          status: 'not_ready',
          reasons: expect.arrayContaining([expect.stringMatching(reason)]),
        },
      }),
    );
  const expectReady = (plane: Plane) =>
    eventually(async () => expect((await readiness(plane)).status).toBe(200), {
      deadlineMs: 20_000,
    });
  const expectWarning = (plane: Plane, message: RegExp) =>
    eventually(async () => {
      const lines = (await readFile(plane.logFile, 'utf8'))
        .split('\n')
        .filter((line) => line !== '');
      const warnings = lines
        .map(parseLogLine)
        .filter(({ severity_text: severity, body }) => severity === 'WARN' && message.test(body));
      expect(warnings).toHaveLength(1);
    });

  it(
    'a control plane waits for Postgres, logs that it waits, and becomes ready when Postgres runs',
    async () => {
      await postgres.set('shut');
      const env = { DATABASE_URL: databaseUrl };
      const plane = await stack.startControlPlane({ waitForReady: false, env });
      await expectNotReady(plane, /Postgres/);
      await expectWarning(plane, /^Postgres unreachable/);
      expect((await fetch(`${plane.adminUrl}/healthz`)).status).toBe(200);
      await postgres.set('open');
      await expectReady(plane);
      const client = createClient(plane.baseUrl, stack.adminToken);
      expect((await client.get('/v1/services')).status).toBe(200);
    },
    testTimeoutMs,
  );

  it(
    'a control plane waits for NATS, logs that it waits, serves the management API meanwhile, and publishes when NATS runs',
    async () => {
      await stack.nats.stop();
      const plane = await stack.startControlPlane({ waitForReady: false });
      await expectNotReady(plane, /NATS/);
      await expectWarning(plane, /^NATS unreachable/);
      const upstream = await startRecordingUpstream();
      try {
        const client = createClient(plane.baseUrl, stack.adminToken);
        const service = await eventually(() =>
          client.create('/v1/services', {
            name: 'early',
            environment: 'production',
            url: upstream.url,
          }),
        );
        await client.create('/v1/routes', { name: 'early', service_id: service.id });
        await stack.restartNats();
        await expectReady(plane);
        const dataPlane = await stack.startDataPlane();
        await eventually(async () => {
          expect((await client.at(dataPlane.baseUrl).proxy('early')).status).toBe(200);
        });
      } finally {
        await upstream.close();
      }
    },
    testTimeoutMs,
  );

  it(
    'a data plane waits for NATS, logs that it waits, answers 503 meanwhile, and becomes ready when NATS runs',
    async () => {
      await stack.startControlPlane();
      await stack.nats.stop();
      const plane = await stack.startDataPlane({ waitForReady: false });
      await expectNotReady(plane, /the configuration is not completely loaded/);
      await expectWarning(plane, /^NATS unreachable/);
      const client = createClient(plane.baseUrl, stack.adminToken);
      const refused = await eventually(() => client.proxy('orders'));
      await expectRefusal(refused, 503, 'gateway_not_ready');
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      await stack.restartNats();
      await expectReady(plane);
      await expectRefusal(await client.proxy('orders'), 404, 'route_not_found');
    },
    testTimeoutMs,
  );

  it(
    'stops with exit code 0 while it waits',
    async () => {
      await postgres.set('shut');
      await stack.nats.stop();
      const env = { DATABASE_URL: databaseUrl };
      const planes = [
        await stack.startControlPlane({ waitForReady: false, env }),
        await stack.startDataPlane({ waitForReady: false }),
      ];
      for (const plane of planes) {
        await expectWarning(plane, /unreachable/);
        const startedMs = performance.now();
        expect(await plane.stop()).toEqual({ code: 0, signal: null });
        expect(performance.now() - startedMs).toBeLessThan(5000);
      }
    },
    testTimeoutMs,
  );
});
