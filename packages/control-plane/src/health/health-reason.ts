import type { Heartbeat, ReportedUpstreamReason } from '@gateway/shared/heartbeats/heartbeat';

type State = Heartbeat['upstream_states'][number][1] | 'healthy';

/** Why an upstream is in this state, in words; null if the data plane gives no reason that is known here. */
export function healthReasonText(
  state: State,
  cause: Pick<ReportedUpstreamReason, 'reason' | 'detail' | 'failures'> | undefined,
): string | null {
  if (state === 'half_open') {
    return 'on trial after an ejection: requests go to it one at a time; without requests, good checks end the trial';
  }
  if (cause === undefined) return null;
  const { reason, detail, failures = 1 } = cause;
  const last = detail === undefined ? '' : `, the last with ${detail}`;
  switch (reason) {
    case 'consecutive_failures':
      return `${failures} of ${failures} requests failed${last}`;
    case 'request_failed':
      return `the request that tried it after an ejection failed${detail === undefined ? '' : ` with ${detail}`}`;
    case 'checks_failed':
      return `${failures} of ${failures} checks failed${last}`;
    case 'check_passed':
      return state === 'ejected' ? 'its checks pass again, and its ejection is not over' : null;
    case 'idle':
      return 'idle: its checks pass, and no request has succeeded since its ejection';
    default:
      return null;
  }
}
