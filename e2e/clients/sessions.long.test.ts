import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callTool, runSessions, startSessionWorld, type SessionWorld } from './session-world.ts';

const SESSIONS = 1000;
const CONCURRENCY = 16;
const startTimeoutMs = 60_000;
const runTimeoutMs = 300_000;

describe('a thousand sessions over three upstreams and two data planes', () => {
  let world: SessionWorld;

  beforeAll(async () => {
    world = await startSessionWorld();
  }, startTimeoutMs);
  afterAll(() => world.close());

  async function expectNoFailure(what: string, session: () => Promise<void>): Promise<void> {
    const failures = await runSessions(SESSIONS, CONCURRENCY, session);
    process.stdout.write(`${what}: ${failures.length} of ${SESSIONS} sessions failed\n`);
    expect(failures).toEqual([]);
  }

  it(
    'of MCP all go on at their upstream',
    () =>
      expectNoFailure('MCP', async () => {
        const { client } = await world.connectMcp();
        await callTool(client, 4);
        await client.close();
      }),
    runTimeoutMs,
  );

  it(
    'of socket.io with polling all go on at their upstream',
    () => expectNoFailure('socket.io', () => world.useSocket()),
    runTimeoutMs,
  );
});
