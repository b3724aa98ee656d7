import { Agent, createServer, ServerResponse } from 'node:http';
import httpProxy from 'http-proxy';
import { listen, upstreamPort } from './listen.ts';

const proxy = httpProxy.createProxyServer({
  target: `http://127.0.0.1:${upstreamPort}`,
  agent: new Agent({ keepAlive: true, maxSockets: 64 }),
});
proxy.on('error', (_error, _request, response) => {
  if (response instanceof ServerResponse && !response.headersSent) response.writeHead(502);
  response.end();
});

listen(createServer((request, response) => proxy.web(request, response)));
