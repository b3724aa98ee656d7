import type { Instruments } from '@gateway/shared/telemetry/instruments';

/** The counter of connections that could not be accepted: by a single process, or by the primary of a group. */
export function notAcceptedCounter(instruments: Instruments): () => void {
  const counter = instruments.counter(
    'gateway_connections_not_accepted_total',
    'Client connections that could not be accepted, because the process had no file descriptor or memory left',
  );
  return () => counter.inc();
}
