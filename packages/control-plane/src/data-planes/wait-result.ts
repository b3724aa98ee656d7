/**
 * Why a wait ended without a confirmed rollout: the change is not published yet (NATS is away or
 * slow); some live data plane does not serve it yet, refuses it, or sends no heartbeat; some live data
 * plane runs the configuration but cannot use what was written; no data plane is live; too many writes wait;
 * this control plane stops.
 */
export const WAIT_REASONS = [
  'not_published',
  'data_planes_behind',
  'configuration_unusable',
  'no_live_data_planes',
  'too_many_waiting',
  'stopping',
] as const;

export const WAIT_RESULTS = ['applied', ...WAIT_REASONS] as const;

export type WaitResult = (typeof WAIT_RESULTS)[number];
