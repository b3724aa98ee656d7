import { describe, expect, it } from '@jest/globals';
import type { RequestContext } from '../request/context.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import { exampleBody } from './example-body.ts';
import { describeRetries, takenBody } from './explain-forward.ts';

/** What is said of the retries of a POST with a body in chunks of this size. */
async function said(protocol: 'http1' | 'http2', unsafeMethods: string, bytes: number) {
  const ctx = {
    body: exampleBody(Buffer.alloc(bytes)),
    method: 'POST',
    framing: { kind: 'chunked' },
    inbound: { isGrpc: false },
    onFinish: () => undefined,
  } as unknown as RequestContext;
  const route = {
    settings: { retry_count: 1, timeout_ms: 1000, max_body_bytes: 10_000_000 },
    retry: { unsafeMethods, onStatuses: new Set([503]), backoffMs: 0 },
  } as unknown as CompiledRoute;
  const service = { protocol } as unknown as CompiledService;
  const body = await takenBody(ctx, route, service, { retryBodyBytes: 1_000_000 });
  return describeRetries(ctx, route, body);
}

describe('the retries of a request whose body streams', () => {
  it.each([
    ['http1', 'never', 10, 'once any of it was sent.'],
    ['http2', 'never', 10, 'once more than 65536 bytes of it were sent.'],
    ['http1', 'always', 2_000_000, 'once more than 65536 bytes of it were sent.'],
  ] as const)('to %s, with unsafe_methods %s: %i bytes', async (protocol, unsafe, bytes, end) => {
    const text = await said(protocol, unsafe, bytes);
    expect(text).toContain('too large to be kept');
    expect(text.endsWith(end)).toBe(true);
  });

  it('are those of any other if it is kept', async () => {
    expect(await said('http2', 'always', 10)).not.toContain('too large');
  });
});
