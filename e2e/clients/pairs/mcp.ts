import { randomUUID } from 'node:crypto';
import { once, EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { listen } from '@gateway/shared/test/upstream';
import { outcome, type Pair, type StartedServer, type Target } from '../harness/pair.ts';
import { pinnedVersion } from '../harness/pinned-version.ts';
import { createHealthyServer } from '../harness/server.ts';

/** So many that at least one of them goes to the other upstream. */
const CALLS = 20;

/** The official SDK with streamable HTTP, and a server with sessions. */
export const mcp: Pair = {
  client: 'MCP SDK',
  version: pinnedVersion('@modelcontextprotocol/sdk'),
  variant: 'one upstream',
  start: () => start(1),
  direct: {
    'tool call': 'echo: hello',
    'progress of a call': '3 notifications',
    'notification of the server': 'received',
    'end of the session': 'the server sees it',
  },
  otherwise: {},
};

/** The same with two servers that know only their own sessions, and a route with affinity. */
export const mcpTwoUpstreams: Pair = {
  client: 'MCP SDK',
  version: pinnedVersion('@modelcontextprotocol/sdk'),
  variant: 'two upstreams',
  start: () => start(2),
  direct: { [`${CALLS} calls of a session`]: 'answered' },
  otherwise: {},
};

/** A server with sessions. */
export interface McpUpstream {
  readonly url: string;
  readonly http: Server;
  readonly events: EventEmitter;
  readonly servers: McpServer[];
  close(): Promise<void>;
}

export async function startMcpUpstream(): Promise<McpUpstream> {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const events = new EventEmitter();
  const servers: McpServer[] = [];
  const http = createHealthyServer((request, response) => {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (known !== undefined) {
      if (request.method === 'GET') events.emit('listening');
      void known.handleRequest(request, response);
      return;
    }
    if (id !== undefined) {
      response.writeHead(404).end('unknown session');
      return;
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void transports.set(session, transport),
      onsessionclosed: () => void events.emit('ended'),
    });
    const server = createMcpServer();
    servers.push(server);
    void server.connect(transport).then(() => transport.handleRequest(request, response));
  });
  const { url, close } = await listen(http);
  return {
    url,
    http,
    events,
    servers,
    async close() {
      for (const server of servers) await server.close();
      await close();
    },
  };
}

function createMcpServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' });
  const inputSchema = { text: z.string() };
  server.registerTool('echo', { inputSchema }, async ({ text }, { _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    for (let progress = 1; progressToken !== undefined && progress <= 3; progress += 1) {
      const params = { progressToken, progress, total: 3 };
      await sendNotification({ method: 'notifications/progress', params });
    }
    return { content: [{ type: 'text', text: `echo: ${text}` }] };
  });
  return server;
}

async function start(count: 1 | 2): Promise<StartedServer> {
  const first = await startMcpUpstream();
  const others = count === 2 ? [await startMcpUpstream()] : [];
  return {
    urls: [first.url, ...others.map(({ url }) => url)],
    ...(count === 2 && { route: { affinity: { by: 'upstream_header' } } }),
    use: (target) => (count === 2 ? useSession(target) : useAll(target, first)),
    async close() {
      await Promise.all([first, ...others].map((one) => one.close()));
    },
  };
}

async function connect({ url, token }: Target) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  return { client, transport };
}

const call = { name: 'echo', arguments: { text: 'hello' } };

async function useSession(target: Target) {
  const ended = await outcome(async () => {
    const { client } = await connect(target);
    try {
      for (let count = 0; count < CALLS; count += 1) await client.callTool(call);
      return 'answered';
    } finally {
      await client.close();
    }
  });
  return {
    [`${CALLS} calls of a session`]: ended.replace(/^.*unknown session.*$/s, 'unknown session'),
  };
}

async function useAll(target: Target, { events, servers }: McpUpstream) {
  const listening = once(events, 'listening');
  const { client, transport } = await connect(target);
  try {
    return {
      'tool call': await outcome(async () => {
        const { content } = await client.callTool(call);
        return (content as { text: string }[])[0]?.text;
      }),
      'progress of a call': await outcome(async () => {
        let progress = 0;
        await client.callTool(call, undefined, { onprogress: () => void (progress += 1) });
        return `${progress} notifications`;
      }),
      'notification of the server': await outcome(async () => {
        await listening;
        const received = Promise.withResolvers<string>();
        client.setNotificationHandler(ToolListChangedNotificationSchema, () =>
          received.resolve('received'),
        );
        for (const server of servers) server.sendToolListChanged();
        return received.promise;
      }),
      'end of the session': await outcome(async () => {
        const ended = once(events, 'ended');
        await transport.terminateSession();
        await ended;
        return 'the server sees it';
      }),
    };
  } finally {
    await client.close();
  }
}
