import { rawConnection, requestText, type RawConnection } from '@gateway/shared/test/raw-client';
import type { ManagementCall } from '../fresh-resources.ts';
import type { Credential } from './credential.ts';

/** More than this a data plane forwards before it has the whole body. */
const STREAMED_BYTES = 64 * 1024;
/** The part of a streamed body that is held back. */
const HELD_BYTES = 1024;

/** A call whose body is not sent yet, at least not to its end. */
export interface HeldCall {
  /** Sends the rest of the body. Resolves with the status and the request id of the answer. */
  end(): Promise<{ readonly status: number; readonly requestId: string; readonly body: string }>;
  destroy(): void;
}

/** @param isStreamed the body is so long that a data plane begins to forward it */
export async function holdCall(
  baseUrl: string,
  { headers, prefix }: Credential,
  method: string,
  { path, body }: ManagementCall,
  isStreamed: boolean,
): Promise<HeldCall> {
  const json = JSON.stringify(body ?? {});
  // Spaces after the JSON are allowed.
  const text = isStreamed ? json.padEnd(STREAMED_BYTES + 2 * HELD_BYTES) : json;
  const sentAtOnce = isStreamed ? text.length - HELD_BYTES : 0;
  const connection: RawConnection = await rawConnection(Number(new URL(baseUrl).port));
  const lines = [
    `Host: ${new URL(baseUrl).host}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  const target = prefix + path;
  connection.send(requestText({ method, target, lines, body: text.slice(0, sentAtOnce) }));
  return {
    async end() {
      connection.send(text.slice(sentAtOnce));
      const answer = await connection.response(method);
      connection.destroy();
      const requestId = answer.headers.get('x-request-id') ?? '';
      return { status: answer.status, requestId, body: await answer.text() };
    },
    destroy: () => connection.destroy(),
  };
}
