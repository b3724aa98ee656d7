import { createServer } from 'node:http';
import { listen } from '@gateway/shared/test/upstream';

/** The upstream of all services of the pictures. */
export interface ShopUpstream {
  readonly url: string;
  close(): Promise<void>;
}

const RETRIED = 'retried';
const FASTEST_MS = 12;
const SPREAD_MS = 60;

/**
 * Starts an upstream that takes some time for each answer. It answers 503 to paths with `failing`, and to every second
 * request with `retried`.
 */
export function startShopUpstream(): Promise<ShopUpstream> {
  let retried = 0;
  let served = 0;
  const server = createServer((request, response) => {
    request.resume();
    const { url = '' } = request;
    if (url.endsWith('/healthz')) return void response.end('{}');
    served += 1;
    const isRetried = url.includes(RETRIED) && (retried += 1) % 2 === 1;
    const status = isRetried || url.includes('failing') ? 503 : 200;
    const ms = FASTEST_MS + ((served * 37) % SPREAD_MS);
    setTimeout(() => response.writeHead(status).end('{"items":[]}'), ms).unref();
  });
  return listen(server);
}
