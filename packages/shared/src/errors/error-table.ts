/**
 * Every error code of the product, in one table.
 *
 * The HTTP status, the metric label, the OpenAPI document and docs/use/failure-modes.md are all derived
 * from it, so that each code has one meaning.
 */

/** What caused an error: the request, the caller's access, the upstream, or the gateway itself. */
export type ErrorDomain = 'request' | 'access' | 'upstream' | 'gateway';

export interface ErrorKind {
  readonly status: number;
  readonly domain: ErrorDomain;
  /**
   * Whether the same request may be sent again unchanged. `safe`: nothing reached the upstream, and
   * nothing was changed. `no`: the answer would be the same. `unknown`: the upstream may have acted on
   * it, or the change may have been made.
   */
  readonly replay: 'safe' | 'no' | 'unknown';
  readonly when: string;
  readonly action: string;
}

export const ERROR_TABLE = {
  invalid_request: {
    status: 400,
    domain: 'request',
    replay: 'no',
    when: 'A field is missing, of a wrong type or out of bounds, the JSON is malformed, the path is not allowed, or a credential for the upstream authenticates a connection (NTLM, Negotiate and the like).',
    action: 'Read `details`: it names each field and the reason.',
  },
  authentication_failed: {
    status: 401,
    domain: 'access',
    replay: 'no',
    when: 'The token is missing, unknown, expired or revoked, or its environments, routes or scopes do not cover this.',
    action: 'Replace or re-scope the token.',
  },
  origin_not_allowed: {
    status: 403,
    domain: 'access',
    replay: 'no',
    when: 'A page opened a WebSocket, and `cors` of the route does not allow its origin.',
    action: 'Add the origin to `cors.origins` of the route, if its pages may call it.',
  },
  route_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'No active route of this name or id exists in the environment, or no route of the host takes the path.',
    action: 'Verify the route name and the environment, or the host and the path.',
  },
  service_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'No service has this id.',
    action: 'Verify the service id.',
  },
  token_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'No token has this id.',
    action: 'Verify the token id.',
  },
  environment_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'No environment has this name.',
    action: 'Create the environment or correct its name.',
  },
  request_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'No request has this id, or it is older than 30 days.',
    action: 'Verify the id; records are kept for 30 days.',
  },
  session_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'The header or the cookie that `affinity` of the route names has the id of a session whose upstream the service no longer has, or an id that was changed.',
    action: 'Begin a new session: send the first request of the protocol again, without the id.',
  },
  config_version_not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'The environment has no stored configuration version with this number.',
    action: 'List the stored versions; the message names the oldest.',
  },
  not_found: {
    status: 404,
    domain: 'request',
    replay: 'no',
    when: 'No route takes the host and the path, and the gateway has no such path.',
    action: 'Correct the host or the path; `match` of a route says which ones it takes.',
  },
  method_not_allowed: {
    status: 405,
    domain: 'request',
    replay: 'no',
    when: 'The path or the route does not accept this method.',
    action: 'Use a method that the `Allow` header names.',
  },
  request_timeout: {
    status: 408,
    domain: 'request',
    replay: 'unknown',
    when: 'The request did not arrive in time: its head, or its body. The message names the bound of the body: `max_upload_ms`, `min_upload_bytes_per_second` or `body_idle_timeout_ms` of the route.',
    action:
      'Send the request again, faster; change the field that the message names for slow callers.',
  },
  response_timeout: {
    status: 408,
    domain: 'request',
    replay: 'unknown',
    when: 'The caller read nothing of the response for `BODY_IDLE_TIMEOUT_MS`, or nothing flowed in either direction of a stream for `body_idle_timeout_ms`, and the gateway ended the response. Only records, metrics, logs and spans have this code: no response carries it.',
    action:
      'Read the response faster, or ask for less at once; raise `body_idle_timeout_ms` for streams that are quiet for longer.',
  },
  idempotency_conflict: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'The idempotency key was used with another method, path, query or body.',
    action: 'Use a new key for a new request.',
  },
  idempotency_in_progress: {
    status: 409,
    domain: 'request',
    replay: 'safe',
    when: "The first request with this key has not ended by this one's deadline.",
    action: 'Wait for `Retry-After`, then send the same request again.',
  },
  idempotency_outcome_unknown: {
    status: 409,
    domain: 'upstream',
    replay: 'unknown',
    when: 'The first request with this key was sent and its outcome is unknown, or its response could not be stored.',
    action: 'Look up the request that the message names, and check its effect at the upstream.',
  },
  idempotency_secret_gone: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'The first management call with this key succeeded and created a secret, which is shown again only once and only for 10 minutes.',
    action: 'Rotate the token that the message names; the response contains its new secret.',
  },
  name_conflict: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'The name is already used in the environment.',
    action: 'Choose another name.',
  },
  match_conflict: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'A route would match the same host, path and header fields as another one, name a host that overlaps with a host of another environment, or be the one with a 17th set of header names for its host and path.',
    action:
      'Change `match`, or that of the other route. The message names it if the token of the call covers it.',
  },
  service_in_use: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'A route uses the service.',
    action:
      'Delete or move the routes that the message names. It counts those that the token does not cover; use a token that does.',
  },
  in_use: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'Tokens name the route that the call, or a rollback, would rename.',
    action:
      'Create a route with the new name beside it and tokens that name both, and delete the old one when nobody uses it. The message names the tokens that the token of the call covers, and counts the others.',
  },
  environment_in_use: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'The environment still has services, routes or tokens.',
    action: 'Delete or revoke what the message counts, then delete the environment.',
  },
  config_version_not_restorable: {
    status: 409,
    domain: 'request',
    replay: 'no',
    when: 'The configuration cannot be rolled back to this version: it has secrets encrypted with an unknown master key, it is of a deleted environment that had the name before, a route of it has a host of `RESERVED_HOSTS`, or the history of later changes is incomplete.',
    action: 'Do what the message says, or choose a newer version.',
  },
  precondition_failed: {
    status: 412,
    domain: 'request',
    replay: 'no',
    when: '`If-Match` names an older revision, or another resource that had the name.',
    action: 'Read the resource again and repeat the change on its newest revision.',
  },
  payload_too_large: {
    status: 413,
    domain: 'request',
    replay: 'no',
    when: 'The body is larger than the route or the endpoint accepts.',
    action: 'Send a smaller body or raise `max_body_bytes`.',
  },
  uri_too_long: {
    status: 414,
    domain: 'request',
    replay: 'no',
    when: 'The request target is longer than the largest request head that is accepted.',
    action: 'Shorten the path or the query.',
  },
  misdirected_request: {
    status: 421,
    domain: 'request',
    replay: 'safe',
    when: 'The request came over an HTTP/2 connection whose certificate does not cover its host, and the data plane has several certificates (`TLS_CERT_DIR`).',
    action:
      'Send it over a connection that was opened for the host: browsers do so by themselves. A proxy must send the host as the server name of TLS (SNI).',
  },
  header_fields_too_large: {
    status: 431,
    domain: 'request',
    replay: 'no',
    when: 'The header fields are larger, or have more lines, than is accepted.',
    action:
      'Send fewer or smaller fields; cookies are the usual cause. `MAX_HEADER_BYTES` and `MAX_HEADER_LINES` of the data planes are the limits.',
  },
  unsupported_media_type: {
    status: 415,
    domain: 'request',
    replay: 'no',
    when: 'The body of a management request is not JSON.',
    action: 'Send `Content-Type: application/json`.',
  },
  rate_limit_exceeded: {
    status: 429,
    domain: 'access',
    replay: 'safe',
    when: 'The quota of the route, of the management token, of failed authentications or of preflights is used up.',
    action: 'Wait for `Retry-After` (whole seconds) or request a higher quota.',
  },
  internal_error: {
    status: 500,
    domain: 'gateway',
    replay: 'unknown',
    when: 'An unexpected failure of the gateway, or the connection to the database was lost while a change was committed.',
    action: 'Report the request id.',
  },
  not_implemented: {
    status: 501,
    domain: 'request',
    replay: 'no',
    when: 'The body has a transfer coding besides `chunked`, such as `gzip, chunked`.',
    action:
      'Send the body with `Content-Length` or only `chunked`; use `Content-Encoding` to compress it.',
  },
  resource_unreadable: {
    status: 501,
    domain: 'gateway',
    replay: 'no',
    when: 'The service, route or token has a value that this release of the control plane does not know: another release has stored it. The message names the field.',
    action: 'Upgrade the control plane, or delete the resource. Lists leave it out.',
  },
  upstream_unavailable: {
    status: 502,
    domain: 'upstream',
    replay: 'unknown',
    when: 'No upstream could be reached, or the upstream broke off before its response began.',
    action: 'Retry with backoff, and check the health of the service.',
  },
  upstream_overloaded: {
    status: 503,
    domain: 'upstream',
    replay: 'safe',
    when: 'The service has as many requests in flight or waiting as its `limits` allow, or none of its connections became free before `timeout_ms`; the message names the service and the limit.',
    action: 'Retry with backoff; check why the service is slow, or raise the limit.',
  },
  gateway_overloaded: {
    status: 503,
    domain: 'gateway',
    replay: 'safe',
    when: 'The gateway sheds load: too many requests are in flight, it has no file descriptor, port or memory left, or it could not send the request before `timeout_ms`.',
    action: 'Retry with backoff; add data planes.',
  },
  gateway_not_ready: {
    status: 503,
    domain: 'gateway',
    replay: 'safe',
    when: 'The configuration is not loaded completely, the key set of a JWT issuer cannot be fetched, this data plane lacks the master key for the credential of the service, Postgres or NATS, which a management call needs, cannot be reached or took too long, or another change of the configuration runs.',
    action: 'Retry after `Retry-After` seconds.',
  },
  gateway_stopping: {
    status: 503,
    domain: 'gateway',
    replay: 'unknown',
    when: 'The data plane stopped, and the response was not complete after `DRAIN_TIMEOUT_MS`. Only records, metrics, logs and spans have this code: no response carries it, because the connection is closed.',
    action:
      'Retry if the operation is idempotent; raise `DRAIN_TIMEOUT_MS` to the longest `timeout_ms`.',
  },
  route_unusable: {
    status: 503,
    domain: 'gateway',
    replay: 'safe',
    when: 'This data plane cannot use the configuration of the route: it or a service that it names does not compile, or has settings that this version of the data plane does not know.',
    action:
      'Retry after `Retry-After` seconds: another data plane may serve the route. `GET /v1/data-planes` and explain name the reason; change the route or the service, or upgrade the data plane.',
  },
  data_plane_unavailable: {
    status: 503,
    domain: 'gateway',
    replay: 'safe',
    when: 'A call needs the answer of a data plane, and none is live, the named one does not answer in time, its version is too old, or it serves another configuration.',
    action: 'Do what the message says; `GET /v1/data-planes` lists the live data planes.',
  },
  idempotency_unavailable: {
    status: 503,
    domain: 'gateway',
    replay: 'safe',
    when: 'The store of idempotency keys cannot be reached, did not answer in time, or stores no new key of the route; the message says why.',
    action: 'Retry with the same key.',
  },
  quota_unavailable: {
    status: 503,
    domain: 'gateway',
    replay: 'safe',
    when: 'The quota of the route cannot be counted because NATS, or a data plane for which the rest of the limit is reserved, does not answer, or not before `timeout_ms`. The route has `on_store_unavailable: refuse`, or this data plane has no share of the limit left that it has not granted: it has just started, has given its share to others, or the limit is smaller than the number of data planes. Or the caller is new, and NATS stores no more callers of the route; the message says why.',
    action: 'Retry after `Retry-After` seconds.',
  },
  upstream_timeout: {
    status: 504,
    domain: 'upstream',
    replay: 'unknown',
    when: 'The deadline `timeout_ms` of the route passed before the response began. It does not count the time in which the gateway waits for the body of the caller.',
    action: 'Retry if the operation is idempotent; check the upstream or raise `timeout_ms`.',
  },
  http_version_not_supported: {
    status: 505,
    domain: 'request',
    replay: 'no',
    when: 'The request line names a major version of HTTP other than 1.',
    action: 'Send HTTP/1.1, or HTTP/2 over TLS.',
  },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_TABLE;

export const ERROR_CODES = Object.keys(ERROR_TABLE) as readonly ErrorCode[];
