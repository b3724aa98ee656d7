import { startTestDataPath, type TestDataPath } from './data-path.ts';
import type { SnapshotRoute } from '@gateway/shared/snapshot/schema';
import { startUpstream, type TestUpstream } from '@gateway/shared/test/upstream';

/** A gateway in front of one upstream. */
export const openGateway = (
  upstream: { readonly url: string },
  route: Partial<SnapshotRoute> = {},
  environment: Record<string, string> = {},
): Promise<TestDataPath> =>
  startTestDataPath({ upstreams: [upstream.url], ...route }, { environment });

/** The settings of keys of a route, with defaults for those that are not given. */
export const keySettings = (
  given: Partial<SnapshotRoute['idempotency']>,
): SnapshotRoute['idempotency'] => ({
  mode: 'store',
  required: false,
  on_unknown: 'refuse',
  repeatable_statuses: [425, 429],
  ...given,
});

/** Sends a POST with the key and always the same small body, unless `init` says otherwise. */
export function postKeyed(
  gateway: TestDataPath,
  key: string,
  { path = 'test', ...init }: RequestInit & { path?: string } = {},
): Promise<Response> {
  const headers = { 'idempotency-key': key };
  return gateway.call(path, { method: 'POST', body: '{"amount":5}', ...init, headers });
}

/** An upstream that numbers its responses. */
export async function startCountingUpstream(status = 201): Promise<TestUpstream> {
  const upstream = await startUpstream((_seen, response) => {
    const number = upstream.seen.length;
    response.writeHead(status, 'Made', [
      ...['Content-Type', 'application/json', 'X-Number', String(number)],
      ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'X-Hop', 'X-Hop', 'no'],
    ]);
    response.end(`{"number":${number},"é":"\u0000"}`);
  });
  return upstream;
}
