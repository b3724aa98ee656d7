import {
  HEARTBEAT_FORMAT,
  HEARTBEAT_INTERVAL_MS,
  type Heartbeat,
} from '../src/heartbeats/heartbeat.ts';
import type { ProcessUse } from '../src/heartbeats/process-use.ts';

/** What a data plane of a release that does not report it uses. */
export const UNKNOWN_PROCESS_USE: ProcessUse = Object.freeze({
  process_cpu_ratio: null,
  process_resident_memory_bytes: null,
  memory_limit_bytes: null,
  event_loop_delay_ms: null,
});

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
    ...UNKNOWN_PROCESS_USE,
    ...fields,
  };
}
