import {
  HEARTBEAT_FORMAT,
  HEARTBEAT_INTERVAL_MS,
  type Heartbeat,
} from '../src/heartbeats/heartbeat.ts';

/** A heartbeat of a data plane that serves no configuration yet, with `fields` replaced. */
export function heartbeatOf(id: string, fields: Partial<Heartbeat> = {}): Heartbeat {
  return {
    format: HEARTBEAT_FORMAT,
    id,
    region: 'eu',
    started_at_ms: 0,
    sent_at_ms: 0,
    interval_ms: HEARTBEAT_INTERVAL_MS,
    config_versions: {},
    config_errors: {},
    in_flight: 0,
    last_error: null,
    services: {},
    upstream_states: [],
    upstream_reasons: [],
    unreported_services: 0,
    unusable_credentials: [],
    overloaded_services: [],
    unusable_counts: {},
    unusable_elements: [],
    gateway_version: '1.2.3',
    server_ahead_ms: null,
    ...fields,
  };
}
