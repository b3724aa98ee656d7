import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startControlPlane } from '@gateway/local-stack/stack/planes';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import { createTestDatabase, type TestDatabase } from '@gateway/testing/test-database';
import { eventually } from '@gateway/shared/test/eventually';
import { createTokenSecret } from '@gateway/shared/tokens/secret';
import { openTcpGate, type TcpGate } from '@gateway/shared/test/tcp-gate';

type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>;

/** The real process, with TCP gates before Postgres and NATS. */
describe('the control plane as a process', () => {
  const token = createTokenSecret();
  let folder: string;
  let database: TestDatabase;
  let postgres: TcpGate;
  let nats: TcpGate;
  let natsServer: Awaited<ReturnType<typeof startNats>>;
  let running: ControlPlane | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'control-plane-'));
    database = await createTestDatabase('partitions');
    postgres = await openTcpGate(Number(new URL(database.url).port));
    // A NATS server of its own, because a control plane stores the records of every data plane on its server.
    natsServer = await startNats({ dataDir: path.join(folder, 'nats'), log: () => undefined });
    nats = await openTcpGate(Number(new URL(natsServer.url).port));
  });

  afterEach(async () => {
    await running?.stop();
    running = undefined;
    await Promise.all([postgres.close(), nats.close()]);
    await natsServer.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<ControlPlane> {
    const databaseUrl = new URL(database.url);
    databaseUrl.port = String(postgres.port);
    running = await startControlPlane({
      name: 'control-plane',
      logFile: path.join(folder, 'control-plane.log'),
      waitForReady: false,
      env: {
        CONTROL_PLANE_HOST: '127.0.0.1',
        CONTROL_PLANE_ADMIN_HOST: '127.0.0.1',
        DATABASE_URL: databaseUrl.href,
        NATS_URL: `nats://127.0.0.1:${nats.port}`,
        GATEWAY_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
        GATEWAY_ADMIN_TOKEN: token,
      },
    });
    return running;
  }

  async function ready({ adminUrl }: ControlPlane) {
    const response = await fetch(`${adminUrl}/readyz`);
    const body = (await response.json()) as { status: string; reasons: string[] };
    return { code: response.status, ...body };
  }

  const list = async ({ baseUrl }: ControlPlane) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${baseUrl}/v1/environments`, { headers })).status;
  };

  it('waits for Postgres and NATS, says so in the log, and serves calls before NATS is reached', async () => {
    await postgres.set('shut');
    await nats.set('shut');
    const plane = await start();
    await eventually(async () => {
      expect(await ready(plane)).toEqual({
        code: 503,
        status: 'not_ready',
        reasons: [
          expect.stringMatching(/^Postgres cannot be used: .*ECONNREFUSED|terminated/),
          'NATS has not been reached yet',
        ],
      });
      expect((await fetch(`${plane.adminUrl}/healthz`)).status).toBe(200);
    });
    await eventually(() => {
      expect(plane.logs().join('\n')).toContain('Postgres unreachable; waiting for it');
    });

    await postgres.set('open');
    await eventually(async () => {
      expect(await list(plane)).toBe(200);
    });
    expect(await ready(plane)).toMatchObject({
      code: 503,
      reasons: ['NATS has not been reached yet'],
    });
    await eventually(() => {
      expect(plane.logs().join('\n')).toContain('NATS unreachable; retrying');
    });

    await nats.set('open');
    await eventually(async () => {
      expect(await ready(plane)).toMatchObject({ code: 200, status: 'ready' });
    });
  });

  it('is degraded without NATS, not ready without Postgres, and recovers from both', async () => {
    const plane = await start();
    await eventually(async () => {
      expect(await ready(plane)).toMatchObject({ code: 200, status: 'ready' });
    });
    await nats.set('shut');
    await eventually(async () => {
      expect(await ready(plane)).toMatchObject({ code: 200, status: 'degraded' });
    });
    expect(await list(plane)).toBe(200);
    await postgres.set('shut');
    await eventually(async () => {
      expect(await ready(plane)).toMatchObject({ code: 503 });
    });
    expect(await list(plane)).toBe(503);
    await Promise.all([postgres.set('open'), nats.set('open')]);
    await eventually(async () => {
      expect(await ready(plane)).toMatchObject({ code: 200, status: 'ready' });
    });
    expect(await list(plane)).toBe(200);
  });

  it('stops with code 0 on SIGTERM, also while it waits', async () => {
    const serving = await start();
    await eventually(async () => {
      expect(await ready(serving)).toMatchObject({ code: 200 });
    });
    expect(await serving.stop('SIGTERM')).toEqual({ code: 0, signal: null });

    await postgres.set('shut');
    const waiting = await start();
    await eventually(async () => {
      expect(await ready(waiting)).toMatchObject({ code: 503 });
    });
    expect(await waiting.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    await postgres.set('open');

    await nats.set('shut');
    const halfway = await start();
    await eventually(async () => {
      expect(await list(halfway)).toBe(200);
    });
    expect(await halfway.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('logs one line for each call, without the query and without the token', async () => {
    const plane = await start();
    await eventually(async () => {
      expect(await ready(plane)).toMatchObject({ code: 200 });
    });
    const secret = createTokenSecret();
    const headers = { authorization: `Bearer ${secret}`, 'x-note': 'private-header' };
    const response = await fetch(`${plane.baseUrl}/v1/services?name=private-query`, { headers });
    expect(response.status).toBe(401);
    const requestId = response.headers.get('x-request-id') ?? '';
    const line = await eventually(() => {
      const found = plane.logs(200).filter((one) => one.includes(requestId));
      expect(found).toHaveLength(1);
      return JSON.parse(found[0] ?? '') as Record<string, unknown>;
    });
    expect(line).toMatchObject({
      'http.request.method': 'GET',
      'url.path': '/v1/services',
      'http.response.status_code': 401,
    });
    const all = plane.logs(1000).join('\n');
    for (const private_ of [secret, token, 'private-header', 'private-query']) {
      expect(all).not.toContain(private_);
    }
  });
});
