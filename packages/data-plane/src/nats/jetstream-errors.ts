import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';

const CONFLICT = new Set<number>([
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]);
/** nats-server's "maximum bytes exceeded" and "insufficient storage resources available". */
const FULL = new Set([10077, 10047]);

/** Whether a write was refused as what it would change was changed meanwhile. */
export function isConflict(error: unknown): boolean {
  return error instanceof JetStreamApiError && CONFLICT.has(error.code);
}

/** Whether a write was refused as there is no room for it. */
export function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && FULL.has(error.code);
}
