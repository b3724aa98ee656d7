import { ApiError, ConnectionError } from '@gateway/client';
import { queryOptions } from '@tanstack/react-query';
import { CSRF_HEADER } from '../../api/client.ts';
import { toBase64 } from './base64.ts';
import { sentHeaders, targetParts, type SendDraft } from './send-draft.ts';

const PATH = '/console/send';

/** What the control plane can send. */
export interface SendState {
  /** Whether it knows where data planes are. */
  readonly configured: boolean;
  readonly max_request_bytes: number;
  readonly max_response_bytes: number;
  readonly timeout_ms: number;
}

/** A response as a data plane gave it. */
export interface SendResponse {
  /** null: whoever answered is no data plane. */
  readonly request_id: string | null;
  readonly status: number;
  readonly status_text: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** In base64, at most `max_response_bytes` of it. */
  readonly body: string;
  readonly body_bytes: number;
  readonly body_end: 'complete' | 'size' | 'time' | 'broken';
  readonly head_ms: number;
  readonly total_ms: number;
  /** The token of ten minutes that the request had. */
  readonly token: {
    readonly id: string;
    readonly name: string;
    readonly expires_at: string;
  } | null;
}

export const sendStateQuery = queryOptions({
  queryKey: ['send', 'state'],
  queryFn: ({ signal }) => call<SendState>({ signal }),
  staleTime: 60_000,
});

/**
 * Sends a request through a data plane. The pasted token is in a header of this one call, and nowhere else.
 * @throws ApiError, ConnectionError
 */
export function send(
  routeId: string,
  draft: SendDraft,
  pasted: string,
  signal: AbortSignal,
): Promise<SendResponse> {
  const { method, target, host, body, token } = draft;
  return call<SendResponse>({
    method: 'POST',
    signal,
    headers: {
      'Content-Type': 'application/json',
      ...(token === 'given' ? { 'X-Console-Token': withoutScheme(pasted) } : {}),
    },
    body: JSON.stringify({
      route_id: routeId,
      method,
      ...targetParts(target),
      host: host === '' ? null : host,
      headers: sentHeaders(draft),
      body: toBase64(new TextEncoder().encode(body)),
      token,
    }),
  });
}

/** People paste the whole field. A field of a call can have only Latin-1; what is no token is refused anyway. */
function withoutScheme(pasted: string): string {
  return encodeURI(pasted.trim().replace(/^(?:authorization:\s*)?bearer\s+/i, ''));
}

/** A call of the control plane, with headers by name. */
interface Call extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

async function call<T>({ headers, ...init }: Call): Promise<T> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(PATH, { ...init, headers: { ...CSRF_HEADER, ...headers } });
    body = await response.json().catch(() => undefined);
  } catch (cause) {
    throw new ConnectionError('The gateway cannot be reached.', { cause });
  }
  if (!response.ok) throw new ApiError(response, body);
  return (body as { readonly data: T }).data;
}
