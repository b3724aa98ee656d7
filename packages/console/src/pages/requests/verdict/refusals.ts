import { countedText } from '@gateway/client/measures';
import type { RequestRecord } from '../../../api/client.ts';

/** What an error code of a record says: why, and what somebody can change. */
export interface Refusal {
  /** A clause after a colon. */
  readonly why: string | ((record: RequestRecord) => string);
  /** A sentence. */
  readonly change: string | ((record: RequestRecord) => string);
}

const RETRY_LATER = 'Send it again: nothing reached an upstream.';

/** The error codes that a record of a request can have. Texts between backticks are names. */
export const REFUSALS = {
  invalid_request: {
    why: 'the request breaks a rule of HTTP or of the gateway',
    change: 'The response that the caller got names the part and the rule in `details`.',
  },
  authentication_failed: {
    why: (record) =>
      isAboutReach(record)
        ? 'the credential is known, but the route or the environment does not take it'
        : 'no valid token or JWT came with it',
    change: (record) =>
      isAboutReach(record)
        ? 'Use a credential that covers the route. Explain names the rule.'
        : 'Send a token that is not expired or revoked. Explain names the rule.',
  },
  origin_not_allowed: {
    why: 'a page of another origin opened the WebSocket, and `cors` of the route does not allow that origin',
    change: 'Add the origin to `cors.origins` of the route, if its pages may call it.',
  },
  route_not_found: {
    why: ({ route, match, environment }) =>
      route === null || match !== null
        ? 'no route of the host takes the path'
        : `there is no active route ${route}${environment === null ? '' : ` in ${environment}`}`,
    change: 'Correct the name, the host or the path; or create or enable the route.',
  },
  session_not_found: {
    why: 'it names a session whose upstream the service no longer has',
    change: 'The caller must begin a new session, without the old id.',
  },
  not_found: {
    why: 'no route takes the host and the path, and the gateway has no such path',
    change: 'Correct the host or the path; `match` of a route says which ones it takes.',
  },
  method_not_allowed: {
    why: ({ method }) => `the route does not accept ${method}`,
    change: ({ method }) => `Add ${method} to the methods of the route, or use another one.`,
  },
  request_timeout: {
    why: 'the request did not arrive in time',
    change:
      'Send the body faster, or raise `max_upload_ms` or `body_idle_timeout_ms` of the route for slow callers.',
  },
  response_timeout: {
    why: 'the caller read nothing of the response, or nothing flowed in the stream, for too long',
    change: 'Read the response faster, or raise `body_idle_timeout_ms` for streams that are quiet.',
  },
  idempotency_conflict: {
    why: 'its idempotency key was used before with another method, path, query or body',
    change: 'Use a new key for a new request.',
  },
  idempotency_in_progress: {
    why: 'the first request with its idempotency key had not ended',
    change: 'Send it again with the same key after `Retry-After`.',
  },
  idempotency_outcome_unknown: {
    why: 'the first request with its idempotency key was sent, and its outcome is unknown',
    change: 'Check at the upstream whether the first request had an effect.',
  },
  payload_too_large: {
    why: 'its body is larger than the route accepts',
    change: 'Send a smaller body, or raise `max_body_bytes` of the route.',
  },
  uri_too_long: {
    why: 'its target is longer than the data plane accepts',
    change: 'Shorten the path or the query.',
  },
  misdirected_request: {
    why: 'the certificate of its connection does not cover its host',
    change: 'Open a connection for the host; a proxy must send the host as the server name of TLS.',
  },
  header_fields_too_large: {
    why: 'its header fields are larger, or have more lines, than the data plane accepts',
    change: 'Send fewer or smaller fields. Cookies are the usual cause.',
  },
  rate_limit_exceeded: {
    why: exhaustedText,
    change: (record) => {
      if (isOfFailures(record)) {
        return 'Correct the credential of this caller; after a minute it may try again.';
      }
      if (record.kind === 'preflight') return 'The browser may ask again after a minute.';
      return 'Send it again after `Retry-After`, or raise `rate_limit` of the route.';
    },
  },
  internal_error: {
    why: 'the gateway failed unexpectedly',
    change: ({ data_plane }) => `The log of ${data_plane} has the reason, under this request id.`,
  },
  not_implemented: {
    why: 'its body has a transfer coding that the gateway does not take',
    change: 'Send the body with `Content-Length` or only `chunked`.',
  },
  upstream_unavailable: {
    why: 'no upstream could be reached',
    change: 'The health of the service says why its upstreams get no requests.',
  },
  upstream_overloaded: {
    why: 'the service had as many requests as its `limits` allow, or no free connection',
    change: 'Send it again; check why the service is slow, or raise its `limits`.',
  },
  gateway_overloaded: {
    why: 'the data plane had no room, or no time left, to send it',
    change: 'Send it again, and add data planes if it happens often.',
  },
  gateway_not_ready: {
    why: 'the data plane lacked a part of its configuration, a key, or the key set of an issuer',
    change: `${RETRY_LATER} The page of the data planes says what is missing.`,
  },
  gateway_stopping: {
    why: 'the data plane stopped before the response was complete',
    change: 'Raise `DRAIN_TIMEOUT_MS` to the longest `timeout_ms`.',
  },
  route_unusable: {
    why: 'this data plane cannot use the configuration of the route',
    change: 'Explain names the reason. Change the route or its service, or upgrade the data plane.',
  },
  idempotency_unavailable: {
    why: 'the store of idempotency keys did not answer, or takes no new key of the route',
    change: 'Send it again with the same key.',
  },
  quota_unavailable: {
    why: 'the quota of the route could not be counted',
    change:
      'Send it again after `Retry-After`. `on_store_unavailable` of the route says what happens while NATS is away.',
  },
  upstream_timeout: {
    why: 'the deadline passed before the response began',
    change: 'Check why the upstream is slow, or raise `timeout_ms` of the route.',
  },
  http_version_not_supported: {
    why: 'it names a version of HTTP that the gateway does not speak',
    change: 'Send HTTP/1.1, or HTTP/2 over TLS.',
  },
} as const satisfies Readonly<Record<string, Refusal>>;

const BY_CODE: ReadonlyMap<string, Refusal> = new Map(Object.entries(REFUSALS));

/** What a code says. A newer data plane may have codes that this page does not know. */
export function refusalOf(code: string): Refusal {
  return (
    BY_CODE.get(code) ?? { why: `the code is \`${code}\``, change: 'Explain may name the reason.' }
  );
}

/** Whether the counted limit is that of failed authentications: the quota of the route comes after them. */
export function isOfFailures({
  error_stage: stage,
  error_code: code,
}: Pick<RequestRecord, 'error_stage' | 'error_code'>): boolean {
  return stage === 'authenticate' || stage === 'authorize' || code === 'authentication_failed';
}

function isAboutReach({ error_stage: stage }: RequestRecord): boolean {
  return stage !== null && stage !== 'authenticate';
}

function exhaustedText(record: RequestRecord): string {
  if (isOfFailures(record)) return 'too many authentications of its address had failed';
  if (record.kind === 'preflight') return 'its address asked too many preflights';
  const limit = record.rate_limit?.limit;
  if (limit === undefined) return 'the quota of the route was used up';
  return `the quota of ${countedText(limit, 'request')} in a window was used up`;
}
