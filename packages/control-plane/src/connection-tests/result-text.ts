import type { TestedUpstream } from '@gateway/shared/connection-tests/test-messages';
import type { AnswerProblem } from './ask-for-tests.ts';

/** What the texts of results name. */
export interface TestedTarget {
  /** The URL of the upstream. */
  readonly url: string;
  /** Expected in the certificate in place of the host; null: the host. */
  readonly serverName: string | null;
  /** Such as `GET /healthz`. */
  readonly request: string;
}

const PROTOCOLS = { http1: 'HTTP/1.1', http2: 'HTTP/2' } as const;

/** What a data plane saw of an upstream, in sentences. */
export function resultText(result: TestedUpstream, target: TestedTarget): string {
  const { outcome, detail, connect_ms: connectMs } = result;
  if (connectMs === null) return `${capitalized(failureText(result, target))}.`;
  const reached = `Reached in ${roundedMs(connectMs)} over ${connectionText(result)}.`;
  if (outcome === 'failed') return `${reached} Then ${failureText(result, target)}.`;
  const answered = `${target.request} answered ${answerText(detail)}`;
  return outcome === 'healthy'
    ? `${reached} ${answered}.`
    : `${reached} ${answered}, so health checks fail.`;
}

function connectionText(result: TestedUpstream): string {
  const { protocol, tls_version: tls, certificate_ends_ms: endsMs } = result;
  const http = protocol === null ? 'TCP' : PROTOCOLS[protocol];
  if (tls === null) return `${http} without TLS`;
  const ends = endsMs === null ? '' : `, certificate valid until ${dateOf(endsMs)}`;
  return `${http} with ${tls.replace(/^TLSv/, 'TLS ')}${ends}`;
}

function dateOf(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? 'an unknown date' : time.toISOString().slice(0, 10);
}

function roundedMs(ms: number): string {
  return ms < 10 ? `${ms} ms` : `${Math.round(ms)} ms`;
}

/** `status_404` → `404`, `grpc_health_not_serving` → `NOT_SERVING`. */
function answerText(detail: string): string {
  if (detail === 'no_grpc_response') return 'something other than gRPC';
  const [, status] = /^status_(\d+)$/.exec(detail) ?? [];
  return status ?? detail.replace(/^grpc_(?:health_|status_)?/, '').toUpperCase();
}

/** What went wrong, as a clause. */
function failureText(result: TestedUpstream, target: TestedTarget): string {
  const { detail, tls_error: tlsError, tls_version: tls, connect_ms: connectMs } = result;
  if (detail === 'tls_failed') {
    return `the TLS handshake failed: ${tlsErrorText(tlsError, target)}`;
  }
  if (detail === 'attempt_timeout') {
    return connectMs === null ? 'it could not be reached in time' : 'it did not respond in time';
  }
  const failure = FAILURES.get(detail) ?? `the test ended with ${detail}`;
  return detail === 'reset' && tls === 'TLSv1.3' ? `${failure}; ${MAY_REQUIRE}` : failure;
}

/** In TLS 1.3 the handshake of the client is over before the server looks at its certificate. */
const MAY_REQUIRE = 'it may require a client certificate';

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** By the name of the error, which is that of an attempt in a request record. */
const FAILURES = new Map(
  Object.entries({
    connect_refused: 'it refused the connection',
    connect_timeout: 'it accepted no connection in time',
    connect_failed: 'it could not be reached',
    name_not_found: 'its name has no address',
    dns_failed: 'the name servers of the data plane did not answer',
    address_refused: 'the data plane refuses its address: UPSTREAM_DENY_CIDRS',
    http2_not_chosen: 'it did not choose HTTP/2 in the TLS handshake, which the protocol requires',
    speaks_http1: 'it answered HTTP/1.1, and the protocol requires HTTP/2',
    speaks_http2: 'it answered HTTP/2, and the protocol is HTTP/1.1',
    reset: 'it closed the connection before its response began',
    goaway: 'it closed the connection before it looked at the request',
    refused_stream: 'it refused the request before it looked at it',
    invalid_response: 'it sent an invalid HTTP response',
    response_head_too_large: 'it sent a response head that is larger than the gateway accepts',
    system_resources: 'the data plane had no file descriptor, port or memory left',
    gateway_paused: 'the data plane was paused and could not test in time',
    internal_error: 'the data plane failed; its log has the reason',
    client_key_unreadable: 'the data plane cannot decrypt the key of the client certificate',
  }),
);

function tlsErrorText(code: string | null, { url, serverName }: TestedTarget): string {
  if (code === null) return 'it closed the connection';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its certificate is not valid for ${serverName ?? new URL(url).hostname}`;
  }
  return TLS_ERRORS.get(code) ?? code;
}

const NOT_TRUSTED =
  'its certificate is not signed by a trusted root, or it does not send the certificates in between';

/** By the codes of Node and OpenSSL. */
const TLS_ERRORS = new Map(
  Object.entries({
    CERT_HAS_EXPIRED: 'its certificate has expired',
    CERT_NOT_YET_VALID: 'its certificate is not valid yet',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself, and not trusted',
    SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by a root that is not trusted',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
    UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
    ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
    ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
    ERR_SSL_UNSUPPORTED_PROTOCOL: 'it does not speak TLS 1.2 or newer',
    ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'it does not speak TLS 1.2 or newer',
    ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'it does not know the name that was sent',
    ECONNRESET: 'it closed the connection',
    ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'it refused the handshake',
  }),
);

/** Why a data plane has no results, as a sentence. */
export function problemText(problem: AnswerProblem, version: string | null): string {
  const is = `its version is ${version ?? 'unknown'}`;
  switch (problem) {
    case 'too_old':
      return `The data plane does not test connections: it has just stopped, or it is too old; ${is}.`;
    case 'no_answer':
      return 'The data plane did not answer within 5 s.';
    case 'nats_away':
      return 'The data plane could not be asked: NATS cannot be reached.';
    case 'refused':
      return 'The data plane refused the question: it has none of the master keys of this control plane, or their clocks differ by more than a minute.';
    case 'not_served':
      return 'The data plane does not serve the environment.';
    case 'busy':
      return 'The data plane tests as many connections as it may. Try again.';
    case 'failed':
      return 'The data plane could not test the connections. Its log has the reason.';
  }
}
