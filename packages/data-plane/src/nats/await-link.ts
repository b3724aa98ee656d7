import type { NatsConnection } from '@nats-io/nats-core';
import type { NatsLink } from './nats-link.ts';

/** Resolves with the connection as soon as the link is up, or undefined once the signal aborts. */
export function whenUp(link: NatsLink, signal: AbortSignal): Promise<NatsConnection | undefined> {
  return new Promise((resolve) => {
    const look = () => {
      if (!signal.aborted && link.connection === undefined) return;
      stopListening();
      signal.removeEventListener('abort', look);
      resolve(signal.aborted ? undefined : link.connection);
    };
    const stopListening = link.onChange(look);
    signal.addEventListener('abort', look);
    look();
  });
}

/**
 * Settles as the work does, or rejects with the signal's reason as soon as the signal aborts. It is for
 * calls that take no signal and end by themselves within seconds; their late result is ignored.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    const settled = () => signal.removeEventListener('abort', abort);
    work.then(resolve, reject).finally(settled);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort);
  });
}
