import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The response that a connection owes, or is being sent, if there is one. What else is written to the
 * connection would be taken for that response, or become a part of it.
 */
export function pendingResponse(socket: Duplex): ServerResponse | undefined {
  // What node:http itself asks where nobody listens to `clientError`; it tells it nowhere else.
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

/** Whether the response, whose head is written, announced that its connection ends with it. */
export function isLast(response: ServerResponse): boolean {
  // What node:http goes by to end the connection.
  return (response as { readonly _last?: boolean })._last === true;
}
