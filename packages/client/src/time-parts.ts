import type { components } from './generated/api.ts';

type Times = Pick<components['schemas']['RequestRecord'], 'timing' | 'waits'>;

/** A part of the time of a request, for people. */
export interface TimePart {
  readonly name: string;
  readonly ms: number;
  /** Who was at work, or was waited for. */
  readonly of: 'gateway' | 'caller' | 'wait' | 'upstream';
}

/**
 * Where the time of a request went, in the order in which it usually passes; parts without time are left out. They add
 * up to its total, except in records of gateways that counted only two of them.
 */
export function timeParts({ timing, waits }: Times): readonly TimePart[] {
  const parts: readonly [name: string, ms: number | null | undefined, of: TimePart['of']][] = [
    ['receiving the request', timing.receiving_ms, 'caller'],
    ['gateway', timing.gateway_ms, 'gateway'],
    ['waiting for the idempotency key', waits?.key_ms, 'wait'],
    ['waiting for the quota', waits?.quota_ms, 'wait'],
    ['waiting for a connection', waits?.connection_ms, 'wait'],
    ['waiting before a retry', waits?.retry_ms, 'wait'],
    ['upstream', timing.upstream_ms, 'upstream'],
    ['sending the response', timing.sending_ms, 'caller'],
  ];
  return parts.flatMap(([name, ms, of]) =>
    ms === null || ms === undefined || ms === 0 ? [] : [{ name, ms, of }],
  );
}
