import httpProxy from '@fastify/http-proxy';
import { fastify } from 'fastify';
import { listen, upstreamPort } from './listen.ts';

const app = fastify({ logger: false });
await app.register(httpProxy, {
  upstream: `http://127.0.0.1:${upstreamPort}`,
  undici: { connections: 64, pipelining: 1 },
});
await app.ready();
listen(app.server);
