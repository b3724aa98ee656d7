import type { ServerResponse } from 'node:http';
import { startUpstream, type SeenRequest, type TestUpstream } from '@gateway/shared/test/upstream';

/**
 * An upstream that stores its requests. `/status/<code>` responds with that status, `/slow/<ms>`
 * after that time, `/flaky/<n>/<any>` with 503 to the first n requests of that path, `/spoof` with
 * headers that only the gateway may set, and any other path with 200. Each body contains the path,
 * and each response has `X-Upstream: yes`.
 */
export function startRecordingUpstream(): Promise<TestUpstream> {
  const asked = new Map<string, number>();
  return startUpstream((seen, response) => {
    const path = new URL(seen.url, 'http://upstream').pathname;
    const count = (asked.get(path) ?? 0) + 1;
    asked.set(path, count);
    const [, kind, value] = path.split('/');
    const number = Number(value);
    if (kind === 'status') answer(response, number, seen);
    else if (kind === 'slow') setTimeout(() => answer(response, 200, seen), number).unref();
    else if (kind === 'flaky') answer(response, count > number ? 200 : 503, seen);
    else if (kind === 'spoof') answer(response, 500, seen, spoofedHeaders);
    else answer(response, 200, seen);
  });
}

const spoofedHeaders = {
  'x-gateway-error': 'internal_error',
  'x-request-id': 'req_of_the_upstream',
  'x-gateway-latency': 'fast',
  'x-ratelimit-remaining': '-1',
};

function answer(
  response: ServerResponse,
  status: number,
  seen: SeenRequest,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify({ upstream: seen.url, method: seen.method });
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-upstream': 'yes',
    ...headers,
  });
  response.end(status === 204 || status === 304 ? undefined : body);
}
