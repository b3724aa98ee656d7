import { createServer, connect as connectTo, type Socket } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UndoList } from '@gateway/shared/test/undo-list';
import { borrowGateway, type BorrowedGateway } from '../harness/borrowed-gateway.ts';
import { startMcpUpstream, type McpUpstream } from './pairs/mcp.ts';
import { connectSocket, startSocketIoUpstream } from './pairs/socket-io.ts';

const UPSTREAMS = 3;
const MESSAGES = 3;
const TIMEOUT_MS = 20_000;
/** A shorter one would be the limit of the test. */
const rate_limit = { limit: 1_000_000, window_seconds: 3600 };

/** Three servers that know only their own sessions, of each kind, behind two data planes. */
export interface SessionWorld {
  readonly gateway: BorrowedGateway;
  readonly mcp: readonly McpUpstream[];
  readonly mcpService: string;
  /** Begins a session of MCP. Its requests go to the data planes in turn. */
  connectMcp(): Promise<{ readonly client: Client; readonly id: string }>;
  /** One session of socket.io with polling, from its begin to its end. Its connections go to the data planes in turn. */
  useSocket(): Promise<void>;
  close(): Promise<void>;
}

export async function startSessionWorld(): Promise<SessionWorld> {
  const undo = new UndoList();
  const gateway = await borrowGateway();
  undo.add(() => gateway.close());
  const mcp: McpUpstream[] = [];
  const sockets: { readonly url: string; close(): Promise<void> }[] = [];
  for (let count = 0; count < UPSTREAMS; count += 1) {
    mcp.push(await startMcpUpstream());
    sockets.push(await startSocketIoUpstream());
  }
  undo.add(async () => void (await Promise.all([...mcp, ...sockets].map((one) => one.close()))));
  const mcpRoute = await routeTo(gateway, mcp, { by: 'upstream_header' });
  const socketRoute = await routeTo(gateway, sockets, { by: 'gateway_cookie' });
  await gateway.settled();
  const relay = await startRelay(gateway.dataPlanes.map(({ baseUrl }) => baseUrl));
  undo.add(() => relay.close());
  const { token } = gateway.admin;
  let turn = 0;
  return {
    gateway,
    mcp,
    mcpService: mcpRoute.service,
    async connectMcp() {
      const client = new Client({ name: 'test', version: '1.0.0' });
      const transport = new StreamableHTTPClientTransport(
        new URL(`http://gateway.test/v1/proxy/${mcpRoute.name}/mcp`),
        {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
          fetch(url, init) {
            turn += 1;
            const { baseUrl = '' } = gateway.dataPlanes[turn % gateway.dataPlanes.length] ?? {};
            return fetch(new URL(new URL(url).pathname, baseUrl), init);
          },
        },
      );
      await client.connect(transport);
      return { client, id: transport.sessionId ?? '' };
    },
    async useSocket() {
      const url = `${relay.url}/v1/proxy/${socketRoute.name}`;
      await connectSocket({ url, token }, { transports: ['polling'] }, async (socket) => {
        for (let count = 0; count < MESSAGES; count += 1) {
          await socket.timeout(TIMEOUT_MS).emitWithAck('message', Buffer.alloc(1));
        }
      });
    },
    close: () => undo.run(),
  };
}

async function routeTo(
  gateway: BorrowedGateway,
  servers: readonly { readonly url: string }[],
  affinity: object,
) {
  const upstreams = servers.map(({ url }) => ({ url }));
  const { id: service } = await gateway.service({ url: undefined, upstreams });
  const { name } = await gateway.route({ service_id: service, affinity, rate_limit });
  return { service, name: String(name) };
}

/** Calls the tool of the server so often; rejects with the first failure. */
export async function callTool(client: Client, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
  }
}

/** Runs so many sessions, a few at a time. @returns the messages of those that failed */
export async function runSessions(
  count: number,
  concurrency: number,
  session: () => Promise<void>,
): Promise<string[]> {
  const failures: string[] = [];
  let begun = 0;
  const next = async () => {
    while (begun < count) {
      begun += 1;
      await session().catch((error: unknown) => failures.push(String(error)));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, next));
  return failures;
}

/** Leads connections to these servers in turn, as a load balancer does. */
async function startRelay(urls: readonly string[]) {
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = createServer((caller) => {
    turn += 1;
    const { hostname, port } = new URL(urls[turn % urls.length] ?? '');
    const plane = connectTo(Number(port), hostname);
    for (const [from, to] of [
      [caller, plane],
      [plane, caller],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
