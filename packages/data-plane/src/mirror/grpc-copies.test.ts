import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { startUpstream } from '@gateway/shared/test/upstream';
import { eventuallyCopies, startMirrored } from '../../test/mirror-world.ts';
import { parseGrpcTimeoutMs } from '../text/grpc-timeout.ts';

const opened = closeAfterEach();

/** Sends a gRPC call to a route whose mirror answers with this status in a head alone. */
async function callMirrored(fields: Readonly<Record<string, string>>, status = '0') {
  const upstream = opened(await startUpstream());
  const mirror = opened(
    await startUpstream((_seen, response) => {
      const head = { 'content-type': 'application/grpc', 'grpc-status': status };
      response.writeHead(200, { ...head, 'content-length': '0' }).end();
    }),
  );
  const route = { timeout_ms: 20_000 };
  const gateway = opened(await startMirrored(upstream.url, [mirror.url], { route }));
  const headers = { 'content-type': 'application/grpc', ...fields };
  const response = await gateway.call('test/pkg.Service/Method', {
    method: 'POST',
    body: '\0\0\0\0\0',
    headers,
  });
  await response.text();
  await eventually(() => expect(mirror.seen).toHaveLength(1));
  return { gateway, copy: mirror.seen[0]?.headers ?? {} };
}

const timeoutOf = (headers: object) =>
  parseGrpcTimeoutMs(String(Reflect.get(headers, 'grpc-timeout')));

describe('the copy of a gRPC call', () => {
  it('has the time that the caller gives, from when the copy is sent', async () => {
    const { copy } = await callMirrored({ 'grpc-timeout': '5S' });
    expect(timeoutOf(copy)).toBeGreaterThan(4000);
    expect(timeoutOf(copy)).toBeLessThanOrEqual(5000);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['more', { 'grpc-timeout': '1H' }],
    ['none', {}],
  ])('has timeout_ms of the route if the caller gives %s', async (_what, fields) => {
    const { copy } = await callMirrored(fields);
    expect(timeoutOf(copy)).toBeGreaterThan(10_000);
    expect(timeoutOf(copy)).toBeLessThanOrEqual(20_000);
  });

  it.each([
    ['0', '2xx'],
    ['5', '2xx'],
    ['13', 'grpc_internal'],
    ['14', 'grpc_unavailable'],
  ])('that ends with the status %s is counted as %s', async (status, result) => {
    const { gateway } = await callMirrored({}, status);
    await eventuallyCopies(gateway, { result }, 1);
  });
});
