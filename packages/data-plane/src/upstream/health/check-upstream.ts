import type { CompiledUpstream } from '../../routing-table/routing-table.ts';
import type { UpstreamClient } from '../port.ts';
import type { CheckVerdict } from './upstream-state.ts';

export interface CheckResult {
  readonly verdict: CheckVerdict;
  /** What came: a status, or what the failure is called in records. */
  readonly detail: string;
}

/** Checks an upstream within `timeoutMs`, or until it is cut short: then the result says nothing. Never rejects. */
export type CheckUpstream = (
  upstream: CompiledUpstream,
  path: string,
  timeoutMs: number,
  cutShort?: AbortSignal,
) => Promise<CheckResult>;

/** The connections of checks, kept apart from those of traffic. */
export interface CheckClient extends Pick<UpstreamClient, 'begin'> {
  retain(keys: { has(key: string): boolean }): void;
}

const FIELDS = ['accept', '*/*', 'user-agent', 'gateway-health-check', 'connection', 'close'];

/**
 * Asks `GET path` of the upstream's host, without a credential: 200 to 299 is good, a redirect is not.
 * Each check opens a connection of its own, as that is what it is to find out, and passes the same
 * address guard as traffic.
 */
export function createUpstreamCheck(client: CheckClient): CheckUpstream {
  const running = new Set<string>();
  return async (upstream, path, timeoutMs, cutShort) => {
    running.add(upstream.key);
    const attempt = client.begin(
      upstream,
      { method: 'GET', path, fields: FIELDS, body: null, contentLength: undefined },
      timeoutMs,
    );
    cutShort?.addEventListener('abort', () => attempt.cancel(), { once: true });
    const { response, error } = await attempt.outcome;
    response?.cancel();
    running.delete(upstream.key);
    // No connection is kept for the next check.
    client.retain(running);
    if (response === undefined) {
      return { verdict: error.sent ? 'bad' : 'unreachable', detail: error.name };
    }
    const { status } = response;
    const good = status >= 200 && status <= 299;
    return { verdict: good ? 'good' : 'bad', detail: `status_${status}` };
  };
}
