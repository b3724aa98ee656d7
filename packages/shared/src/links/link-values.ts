import type { LinkValues } from './link-template.ts';

/** What a link needs of the record of a request. */
interface LinkedRequest {
  readonly id: string;
  readonly trace_id: string | null;
  readonly environment: string | null;
  readonly route: string | null;
  readonly route_version: string | null;
  readonly token_id: string | null;
  /** An ISO time. */
  readonly received_at: string;
  readonly timing: { readonly total_ms: number };
}

/** Before and after a request, so that its lines and its place in a graph are in the period. */
const MARGIN_MS = 5 * 60_000;
const HOUR_MS = 3_600_000;

/** The values for links about a request, with a period around it. */
export function valuesOfRequest(record: LinkedRequest): LinkValues {
  const atMs = Date.parse(record.received_at);
  return {
    trace_id: record.trace_id,
    request_id: record.id,
    environment: record.environment,
    route: record.route,
    version: record.route_version,
    token_id: record.token_id,
    from_ms: atMs - MARGIN_MS,
    to_ms: Math.ceil(atMs + record.timing.total_ms) + MARGIN_MS,
  };
}

/** The period of links about what is not of one moment: the hour before now, ms since the Unix epoch. */
export function lastHour(nowMs: number): { readonly from_ms: number; readonly to_ms: number } {
  return { from_ms: nowMs - HOUR_MS, to_ms: nowMs };
}
