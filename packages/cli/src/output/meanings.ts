import type { Style } from './colours.ts';

/** What the words of the API mean to a person: good, bad, or a reason to look. Others mean neither. */
const MEANINGS: Readonly<Record<string, Style>> = {
  healthy: 'green',
  degraded: 'yellow',
  unhealthy: 'red',
  unknown: 'dim',
  failed: 'red',
  'not tested': 'yellow',
  active: 'green',
  disabled: 'yellow',
  live: 'green',
  stale: 'red',
  success: 'green',
  upstream_error: 'red',
  upstream_unavailable: 'red',
  timeout: 'red',
  rejected: 'yellow',
  client_aborted: 'yellow',
};

/** The style of a word such as the status of a service or the outcome of a request. */
export const styleOfWord = (word: string): Style | undefined =>
  Object.hasOwn(MEANINGS, word) ? MEANINGS[word] : undefined;

/** The style of a status of HTTP; null: no response began. */
function styleOfStatus(status: number | null): Style {
  if (status === null) return 'yellow';
  if (status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** How a request ended: an upstream that answers 404 counts as a success, which a person does not call green. */
export function styleOfOutcome(outcome: string, status: number | null): Style | undefined {
  return outcome === 'success' ? styleOfStatus(status) : styleOfWord(outcome);
}

/** The style of what was done to a resource, such as `route.deleted`. */
export function styleOfAction(action: string): Style | undefined {
  if (/\.(deleted|revoked)$/.test(action)) return 'red';
  if (/\.created$/.test(action)) return 'green';
  return /\.(rotated|rolled_back)$/.test(action) ? 'yellow' : undefined;
}
