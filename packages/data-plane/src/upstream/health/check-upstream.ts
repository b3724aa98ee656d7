import type { CompiledUpstream } from '../../routing-table/routing-table.ts';
import { faultOf, type AttemptError, type AttemptErrorName } from '../attempt-end.ts';
import type { UpstreamClient } from '../upstream-client.ts';
import type { CheckVerdict } from './upstream-state.ts';

/** The result of one check. */
export interface CheckResult {
  readonly verdict: CheckVerdict;
  /** The status, or the name of the failure in records. */
  readonly detail: string;
}

/** Checks an upstream within `timeoutMs`. After `signal` has aborted the result means nothing. Never rejects. */
export type CheckUpstream = (
  upstream: CompiledUpstream,
  path: string,
  timeoutMs: number,
  signal?: AbortSignal,
) => Promise<CheckResult>;

/** Makes the connections of checks; those of requests are separate. */
export interface CheckClient extends Pick<UpstreamClient, 'begin'> {
  retain(keys: { has(key: string): boolean }): void;
}

const FIELDS = ['accept', '*/*', 'user-agent', 'gateway-health-check', 'connection', 'close'];

/** Faults of this data plane that also say that it cannot use the upstream now. */
const NOT_USABLE_HERE = new Set<AttemptErrorName>(['dns_failed', 'address_refused']);

/** A fault of this data plane is no failure of the upstream, whose health stays as it is. */
function failedVerdict(error: AttemptError): CheckVerdict {
  if (NOT_USABLE_HERE.has(error.name)) return 'unreachable';
  if (faultOf(error) !== 'upstream') return 'nothing';
  return error.sent ? 'bad' : 'unreachable';
}

/**
 * Checks with `GET path` at the host of the upstream, without a credential. 200 to 299 is good; a redirect is not. Each
 * check opens its own connection, because it must show that a connection can be opened. Denied addresses are refused as
 * for requests.
 */
export function createUpstreamCheck(client: CheckClient): CheckUpstream {
  const running = new Set<string>();
  return async (upstream, path, timeoutMs, signal) => {
    running.add(upstream.key);
    const result = await new Promise<CheckResult>((resolve) => {
      const request = { method: 'GET', path, fields: FIELDS, body: null, contentLength: undefined };
      const attempt = client.begin(upstream, request, timeoutMs, {
        responded({ status }) {
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
