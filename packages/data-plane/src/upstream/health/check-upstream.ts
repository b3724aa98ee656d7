import type { ClientRequest } from '@gateway/http/exchange';
import type { CompiledUpstream } from '../../routing-table/routing-table.ts';
import { faultOf, type AttemptError, type AttemptErrorName } from '../attempt-end.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import { GrpcCheck, grpcCheckRequest } from './grpc-check.ts';
import type { CheckResult, CheckVerdict } from './upstream-state.ts';

/** A path to request, or a service that `grpc.health.v1` is asked about; empty: the server as a whole. */
export type CheckQuestion = string | { readonly grpcService: string };

/** Checks an upstream within `timeoutMs`. After `signal` has aborted the result means nothing. Never rejects. */
export type CheckUpstream = (
  upstream: CompiledUpstream,
  asked: CheckQuestion,
  timeoutMs: number,
  signal?: AbortSignal,
) => Promise<CheckResult>;

/** Makes the connections of checks; those of requests are separate. */
export interface CheckClient extends Pick<UpstreamClient, 'begin'> {
  retain(keys: { has(key: string): boolean }): void;
}

const FIELDS = ['accept', '*/*', 'user-agent', 'gateway-health-check'];
const FIELDS_OF_HTTP1 = [...FIELDS, 'connection', 'close'];

/** Faults of this data plane that also say that it cannot use the upstream now. */
const NOT_USABLE_HERE = new Set<AttemptErrorName>(['dns_failed', 'address_refused']);

/** A fault of this data plane is no failure of the upstream, whose health stays as it is. */
function failedVerdict(error: AttemptError): CheckVerdict {
  if (NOT_USABLE_HERE.has(error.name)) return 'unreachable';
  if (faultOf(error) !== 'upstream') return 'nothing';
  return error.sent ? 'bad' : 'unreachable';
}

function pathRequest({ protocol }: CompiledUpstream, path: string): ClientRequest {
  const fields = protocol === undefined ? FIELDS_OF_HTTP1 : FIELDS;
  return { method: 'GET', path, fields, body: null, contentLength: undefined };
}

/**
 * Checks with `GET path` at the host of the upstream, without a credential. 200 to 299 is good; a redirect is not. Each
 * check opens its own connection, because it must show that a connection can be opened. Denied addresses are refused as
 * for requests. A service that speaks gRPC is asked with a unary call of `grpc.health.v1` in the same way; only SERVING is
 * good.
 */
export function createUpstreamCheck(client: CheckClient): CheckUpstream {
  const running = new Set<string>();
  return async (upstream, asked, timeoutMs, signal) => {
    running.add(upstream.key);
    const result = await new Promise<CheckResult>((resolve) => {
      const isPath = typeof asked === 'string';
      const request = isPath ? pathRequest(upstream, asked) : grpcCheckRequest(asked.grpcService);
      const attempt = client.begin(upstream, request, timeoutMs, {
        bodyIdleTimeoutMs: timeoutMs,
        responded(response, last) {
          if (!isPath) return new GrpcCheck(response, resolve).head(last);
          const { status } = response;
          const good = status >= 200 && status <= 299;
          resolve({ verdict: good ? 'good' : 'bad', detail: `status_${status}` });
          return undefined;
        },
        failed(error) {
          resolve({ verdict: failedVerdict(error), detail: error.name });
        },
      });
      signal?.addEventListener('abort', () => attempt.cancel(), { once: true });
    });
    running.delete(upstream.key);
    // No connection is kept for the next check.
    client.retain(running);
    return result;
  };
}
