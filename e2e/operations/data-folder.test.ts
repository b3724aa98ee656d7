import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@gateway/shared/test/eventually';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type Gateway } from '../harness/gateway.ts';
import { runPlane, type EndedPlane } from './run-plane.ts';
import { childrenOf, isRunning } from './workers/group.ts';
import { restartMs, startGroup } from './workers/start-group.ts';
import { parseLogLine } from '../harness/log-line.ts';

const testTimeoutMs = 60_000;

describe('a second data plane on one data folder', () => {
  let gateway: Gateway;
  let folder: string;
  let upstream: TestUpstream;
  /** Ends the response of the upstream. */
  let release: () => void = () => undefined;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'gateway-e2e-folder-'));
    gateway = await startGateway({ dataPlanes: 0 });
    upstream = await startUpstream((_seen, response) => {
      release = () => void response.end('ok');
    });
    const { id } = await gateway.service({ url: upstream.url });
    await gateway.route({ name: 'long', service_id: id, timeout_ms: 60_000 });
  }, testTimeoutMs);
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
    await rm(folder, { recursive: true, force: true });
  });

  const env = () => ({ DATA_PLANE_DATA_DIR: folder });

  function startSecond(workers: number): Promise<EndedPlane> {
    return runPlane('data-plane', {
      ...env(),
      WORKERS: String(workers),
      GATEWAY_PORT: '0',
      DATA_PLANE_ADMIN_PORT: '0',
      GATEWAY_MASTER_KEYS: gateway.stack.masterKeys,
      NATS_URL: gateway.stack.natsUrl,
    });
  }

  async function expectRefused(workers: number): Promise<void> {
    const { code, lines } = await startSecond(workers);
    const errors = lines
      .map(parseLogLine)
      .filter(({ severity_text: severity }) => severity !== 'INFO');
    const body = `data plane cannot start: the data folder ${folder} is in use by another data plane; stop that one, or set DATA_PLANE_DATA_DIR to another folder`;
    expect({ code, errors }).toEqual({
      code: 1,
      errors: [expect.objectContaining({ severity_text: 'FATAL', body })],
    });
  }

  it(
    'is refused in one line, with and without workers, until the first has ended',
    async () => {
      const first = await gateway.stack.startDataPlane({ name: 'first', env: env() });
      await expectRefused(1);
      await expectRefused(2);
      await first.stop('SIGKILL');
      const next = await gateway.stack.startDataPlane({ name: 'next', env: env() });
      expect(await next.stop()).toEqual({ code: 0, signal: null });
    },
    testTimeoutMs,
  );

  it(
    'is refused while workers of a killed primary finish their requests',
    async () => {
      const drains = { DRAIN_TIMEOUT_MS: '60000' };
      const group = await startGroup(gateway, { name: 'group', env: { ...env(), ...drains } });
      await expectRefused(1);
      const workers = childrenOf(group.pid);
      const long = gateway.admin.at(group.baseUrl).proxy('long');
      await eventually(() => expect(upstream.seen).toHaveLength(1));
      await group.stop('SIGKILL');
      expect(workers.some(isRunning)).toBe(true);
      await expectRefused(1);
      release();
      expect((await long).status).toBe(200);
      await eventually(() => expect(workers.filter(isRunning)).toEqual([]), {
        deadlineMs: restartMs,
      });
      const next = await startGroup(gateway, { name: 'group', env: env() });
      expect(await next.stop()).toEqual({ code: 0, signal: null });
    },
    testTimeoutMs,
  );
});
