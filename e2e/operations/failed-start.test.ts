import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startNats } from '@gateway/local-stack/nats/start-nats';
import type { Server as NatsServer } from '@gateway/local-stack/process/managed-process';
import { createTestDatabase, type TestDatabase } from '@gateway/testing/test-database';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runPlane, type PlaneKind } from './run-plane.ts';
import { isError, parseLogLine, type LogLine } from '../harness/log-line.ts';

const startTimeoutMs = 30_000;
const secretVariables = new Set([
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'GATEWAY_ADMIN_TOKEN',
  'GATEWAY_MASTER_KEYS',
]);

describe('a start that fails', () => {
  let database: TestDatabase;
  let folder: string;
  /** A separate server: a data plane would log about what other suites publish. */
  let nats: NatsServer;
  let taken: Server;
  let env: Record<string, string>;

  beforeAll(async () => {
    database = await createTestDatabase('partitions');
    folder = await mkdtemp(path.join(tmpdir(), 'gateway-e2e-start-'));
    nats = await startNats({ dataDir: path.join(folder, 'nats'), log: () => undefined });
    taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const any = { GATEWAY_PORT: '0', DATA_PLANE_ADMIN_PORT: '0', CONTROL_PLANE_PORT: '0' };
    env = {
      ...any,
      CONTROL_PLANE_ADMIN_PORT: '0',
      GATEWAY_MASTER_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      DATABASE_URL: database.url,
      NATS_URL: nats.url,
      DATA_PLANE_DATA_DIR: path.join(folder, 'data-plane'),
      GATEWAY_HOST: '127.0.0.1',
      DATA_PLANE_ADMIN_HOST: '127.0.0.1',
      CONTROL_PLANE_HOST: '127.0.0.1',
      CONTROL_PLANE_ADMIN_HOST: '127.0.0.1',
    };
  }, startTimeoutMs);
  afterAll(async () => {
    taken.close();
    await nats.stop();
    await rm(folder, { recursive: true, force: true });
    await database.drop();
  });

  const badVariables: [PlaneKind, string, string][] = [
    ['control-plane', 'CONTROL_PLANE_PORT', 'eighty'],
    ['control-plane', 'DATABASE_URL', 'mysql://somewhere'],
    ['control-plane', 'DATABASE_URL', 'postgres://a,b/c?target_session_attrs=standby'],
    ['control-plane', 'DATABASE_DIRECT_URL', 'somewhere'],
    ['control-plane', 'GATEWAY_ADMIN_TOKEN', 'too-short-a-secret'],
    ['control-plane', 'UPSTREAM_DENY_CIDRS', '10.0.0.0/99'],
    ['data-plane', 'GATEWAY_PORT', '70000'],
    ['data-plane', 'REGION', 'Not A Region'],
    ['data-plane', 'CONTROL_PLANE_URL', 'ftp://somewhere'],
    ['data-plane', 'DRAIN_TIMEOUT_MS', '-1'],
    ...(['control-plane', 'data-plane'] as const).flatMap((kind): [PlaneKind, string, string][] => [
      [kind, 'GATEWAY_MASTER_KEYS', 'k1:c2hvcnQ='],
      [kind, 'GATEWAY_MASTER_KEYS', ''],
      [kind, 'LOG_LEVEL', 'loud'],
    ]),
  ];

  it.each(badVariables)(
    'of a %s with %s = %j prints one line and has exit code 1',
    async (kind, name, value) => {
      const { code, lines } = await runPlane(kind, { ...env, [name]: value });
      expect({ code, lines }).toEqual({ code: 1, lines: [expect.stringContaining(name)] });
      if (secretVariables.has(name) && value !== '') expect(lines.join()).not.toContain(value);
    },
  );

  it.each(['control-plane', 'data-plane'] as const)(
    'of a %s with a NATS server that is too old is one line of the error and exit code 1',
    async (kind) => {
      const info = {
        server_id: 'old',
        version: '2.9.10',
        proto: 1,
        headers: true,
        max_payload: 1e6,
      };
      const old = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.write(`INFO ${JSON.stringify(info)}\r\n`);
        socket.on('data', (bytes) => {
          if (bytes.includes('PING')) socket.write('PONG\r\n');
        });
      }).listen(0, '127.0.0.1');
      await once(old, 'listening');
      const { port } = old.address() as AddressInfo;
      try {
        const { code, lines } = await runPlane(kind, {
          ...env,
          NATS_URL: `nats://127.0.0.1:${port}`,
        });
        expect({ code, errors: errorsOf(lines) }).toEqual({
          code: 1,
          errors: [
            expect.objectContaining({
              severity_text: 'FATAL',
              body: expect.stringContaining('NATS_URL: nats-server 2.9.10 is not supported'),
            }),
          ],
        });
      } finally {
        old.close();
      }
    },
    startTimeoutMs,
  );

  it.each([
    ['control-plane', 'CONTROL_PLANE_PORT'],
    ['control-plane', 'CONTROL_PLANE_ADMIN_PORT'],
    ['data-plane', 'GATEWAY_PORT'],
    ['data-plane', 'DATA_PLANE_ADMIN_PORT'],
  ] as const)(
    'of a %s whose %s is in use is one line of the error and exit code 1',
    async (kind, name) => {
      const port = String((taken.address() as AddressInfo).port);
      const { code, lines } = await runPlane(kind, { ...env, [name]: port });
      expect({ code, errors: errorsOf(lines) }).toEqual({
        code: 1,
        errors: [
          expect.objectContaining({
            severity_text: 'FATAL',
            body: expect.stringMatching(`${port}.*${name}`),
          }),
        ],
      });
    },
    startTimeoutMs,
  );
});

function errorsOf(lines: readonly string[]): readonly LogLine[] {
  return lines.map(parseLogLine).filter(isError);
}
