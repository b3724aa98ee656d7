import { expect, it } from '@jest/globals';
import type { ServiceHealth } from '../../api/client.ts';
import { shownStatus } from './shown-status.ts';

const health = (status: string, ...upstreams: string[]) =>
  ({ status, upstreams: upstreams.map((one) => ({ status: one })) }) as unknown as ServiceHealth;

it.each([
  [undefined, 'unknown'],
  [health('unknown', 'unknown', 'unknown'), 'unknown'],
  [health('unknown', 'healthy', 'unknown'), 'healthy'],
  [health('unknown', 'healthy', 'unhealthy'), 'degraded'],
  [health('unknown', 'unhealthy'), 'unhealthy'],
  [health('degraded', 'healthy'), 'degraded'],
])('never contradicts the upstreams: %#', (of, status) => {
  expect(shownStatus('unknown', of)).toBe(status);
});
