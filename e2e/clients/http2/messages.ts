import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Observations, Pair, StartedServer } from '../harness/pair.ts';
import { runSteps, type Step } from './requests.ts';

const UPLOAD_BYTES = 5_000_000;
const TRAILERS = { te: 'trailers' };

const STEPS: Readonly<Record<string, Step>> = {
  'POST of 5 MB': async (send) => {
    const body = Buffer.alloc(UPLOAD_BYTES, 'upload');
    const answer = await send({ path: '/size', method: 'POST', body });
    return `${answer.status}, ${answer.body.toString()} bytes`;
  },
  'trailers of the response': async (send) => {
    const { body, trailers } = await send({ path: '/trailers', headers: TRAILERS });
    return `${body.toString()}, then ${String(trailers['x-checksum'])}`;
  },
  'trailers of the request': async (send) => {
    const { trailers } = await send({
      path: '/trailers',
      method: 'POST',
      headers: TRAILERS,
      body: Buffer.from('body'),
      trailers: { 'x-checksum': 'of the request' },
    });
    return `${String(trailers['x-seen'])} comes back`;
  },
  '1000 GETs at one time': async (send) => {
    const many = await Promise.all(Array.from({ length: 1000 }, () => send({ path: '/size' })));
    return `${many.filter(({ status }) => status === 200).length} answered`;
  },
};

const SEEN: Observations = {
  'POST of 5 MB': `200, ${UPLOAD_BYTES} bytes`,
  'trailers of the response': 'body, then of the response',
  'trailers of the request': 'of the request comes back',
  '1000 GETs at one time': '1000 answered',
};

/** node:http2 as the client and the server of messages with trailers. */
export const messagePair: Pair = {
  client: 'node:http2',
  version: 'of Node',
  variant: 'its own server',
  reach: 'host',
  direct: SEEN,
  otherwise: {},
  start,
};

async function start(): Promise<StartedServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => {
      if (request.url === '/size') {
        response.end(String(bytes));
        return;
      }
      response.addTrailers({
        'x-checksum': 'of the response',
        'x-seen': request.trailers['x-checksum'] ?? 'nothing',
      });
      response.end('body');
    });
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    service: { protocol: 'http2' },
    use: (target) => runSteps(STEPS, target),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of sessions) session.destroy();
      }),
  };
}
