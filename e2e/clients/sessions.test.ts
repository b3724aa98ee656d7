import { once } from 'node:events';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callTool, runSessions, startSessionWorld, type SessionWorld } from './session-world.ts';

const startTimeoutMs = 60_000;

describe('sessions over three upstreams and two data planes', () => {
  let world: SessionWorld;

  beforeAll(async () => {
    world = await startSessionWorld();
  }, startTimeoutMs);
  afterAll(() => world.close());

  it('of MCP go on at their upstream', async () => {
    const failures = await runSessions(12, 4, async () => {
      const { client } = await world.connectMcp();
      await callTool(client, 4);
      await client.close();
    });
    expect(failures).toEqual([]);
  });

  it('of socket.io with polling go on at their upstream', async () => {
    expect(await runSessions(12, 4, () => world.useSocket())).toEqual([]);
  });

  it('of MCP fail with 502 while their upstream is down, go on when it is back, and end with 404 when it is removed', async () => {
    const { gateway, mcp, mcpService } = world;
    const sessions: Awaited<ReturnType<SessionWorld['connectMcp']>>[] = [];
    for (let count = 0; count < 12; count += 1) sessions.push(await world.connectMcp());
    const [lost] = mcp;
    if (lost === undefined) throw new Error('there is no upstream');
    const port = Number(new URL(lost.url).port);
    const results = async () => {
      const all = sessions.map(async ({ client }): Promise<number> => {
        try {
          await callTool(client, 2);
          return 200;
        } catch (error) {
          return error instanceof StreamableHTTPError ? (error.code ?? 0) : 0;
        }
      });
      return Promise.all(all);
    };
    lost.http.close();
    lost.http.closeAllConnections();
    const whileDown = await results();
    expect(new Set(whileDown)).toEqual(new Set([200, 502]));
    lost.http.listen(port, '127.0.0.1');
    await once(lost.http, 'listening');
    expect(new Set(await results())).toEqual(new Set([200]));
    const upstreams = mcp.slice(1).map(({ url }) => ({ url }));
    const wait = { headers: { prefer: 'wait=20' } };
    await gateway.admin.patch(`/v1/services/${mcpService}`, { upstreams }, wait);
    await gateway.settled();
    expect(await results()).toEqual(whileDown.map((status) => (status === 502 ? 404 : 200)));
    for (const { client } of sessions) await client.close();
  });
});
