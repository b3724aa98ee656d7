import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { eventually } from '@gateway/shared/test/eventually';
import { expect } from '@jest/globals';
import type { TestApi } from './api.ts';

/** A call whose head and first byte of the body are sent. */
export interface HeldCall {
  /** Sends the rest of the body. */
  release(): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * Begins a call that is authenticated and then waits for its body.
 *
 * @param tokenId the token of the call, whose use shows that the call is authenticated; it has no earlier use
 */
export async function holdCall(
  api: TestApi,
  tokenId: string,
  method: string,
  path: string,
  options: { readonly headers: Readonly<Record<string, string>>; readonly body: object },
): Promise<HeldCall> {
  const body = JSON.stringify(options.body);
  const call = request(api.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...options.headers,
    },
  });
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  call.write(body.slice(0, 1));
  await eventually(async () => {
    // Uses are stored every five seconds.
    api.clock.advance(5000);
    const token = api.db.selectFrom('tokens').select('last_used_at').where('id', '=', tokenId);
    expect((await token.executeTakeFirstOrThrow()).last_used_at).not.toBeNull();
  });
  return {
    async release() {
      call.end(body.slice(1));
      const [response] = await answered;
      const text = (await response.toArray()).join('');
      return { status: response.statusCode ?? 0, text };
    },
  };
}
