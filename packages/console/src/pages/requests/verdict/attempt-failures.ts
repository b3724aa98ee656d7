/** What an upstream did in an attempt without a usable status: a clause whose subject is the upstream. */
const OF_UPSTREAM = new Map(
  Object.entries({
    connect_refused: 'refused the connection',
    connect_timeout: 'accepted no connection in time',
    connect_failed: 'could not be reached',
    name_not_found: 'has a name without an address',
    tls_failed: 'failed the TLS handshake, or its certificate is not trusted',
    http2_not_chosen: 'did not choose HTTP/2, which the service requires',
    reset: 'closed the connection before its response began',
    refused_stream: 'refused the request before it looked at it',
    invalid_response: 'sent an invalid HTTP response',
    speaks_http1: 'speaks HTTP/1.1 and got HTTP/2, as `protocol` of its service says',
    speaks_http2: 'speaks HTTP/2 and got HTTP/1.1, as the protocol of its service says',
    attempt_timeout: 'did not respond in time',
    goaway: 'closed its connections before it looked at the request',
    connect_not_offered: 'takes no WebSocket over HTTP/2, which the service requires',
  }),
);

/** What else went wrong in an attempt, which is no fault of the upstream. */
const OF_OTHERS = new Map(
  Object.entries({
    max_pending: 'too many requests waited for a connection to it',
    max_connections: 'no connection to it became free in time',
    dns_failed: 'the name servers of the data plane did not answer',
    address_refused: 'the data plane refuses its address',
    system_resources: 'the data plane had no file descriptor, port or memory left',
    gateway_paused: 'the data plane was paused, and sent nothing in time',
    response_head_too_large: 'the head of its response was larger than the gateway accepts',
    internal_error: 'the gateway failed unexpectedly',
    unsendable: 'the gateway could not write the request',
    key_lease_ended: 'the data plane no longer held the idempotency key',
    request_body: 'the body of the request did not arrive',
    stream_idle: 'nothing flowed in the stream for too long',
    cancelled: 'the request was cancelled',
  }),
);

/** Why an attempt had no usable status, as a clause. A newer data plane may have names that this page does not know. */
export function attemptFailure(name: string, upstream: string): string {
  const did = OF_UPSTREAM.get(name);
  if (did !== undefined) return `${upstream} ${did}`;
  const other = OF_OTHERS.get(name);
  return other === undefined
    ? `the attempt at ${upstream} ended with \`${name}\``
    : `the attempt at ${upstream} failed: ${other}`;
}
