import type { ServiceHealth } from '../../api/client.ts';
import { relativeTime } from '../../ui/time-text.ts';

type Status = ServiceHealth['upstreams'][number]['data_planes'][number]['status'];

/** What a state of an upstream is called after `is`. */
const STATE_TEXTS: Readonly<Record<Status, string>> = {
  healthy: 'healthy',
  unhealthy: 'unhealthy',
  ejected: 'ejected',
  half_open: 'on trial',
  unknown: 'not checked yet',
};

/** The state of an upstream with its age and its reason: `ejected 4 min ago: 5 of 5 requests failed`. */
export function stateText(
  status: Status,
  since: string | null,
  reason: string | null,
  nowMs: number,
): string {
  const age = since === null ? '' : ` ${relativeTime(Date.parse(since), nowMs)}`;
  return `${STATE_TEXTS[status]}${age}${reason === null ? '' : `: ${reason}`}`;
}

/** Why a service is not healthy: the state that has lasted longest; undefined if no upstream fails. */
export function healthReason(
  { upstreams, overloaded_on: overloaded }: ServiceHealth,
  nowMs: number,
): string | undefined {
  const failing = upstreams
    .flatMap(({ data_planes }) => data_planes)
    .filter(({ status }) => status !== 'healthy' && status !== 'unknown')
    .toSorted((a, b) => timeOf(a.since) - timeOf(b.since));
  const [first] = failing;
  if (first === undefined) {
    return overloaded.length === 0 ? undefined : 'refuses requests: it is at one of its limits';
  }
  return stateText(first.status, first.since, first.reason, nowMs);
}

function timeOf(at: string | null): number {
  return at === null ? Infinity : Date.parse(at);
}
