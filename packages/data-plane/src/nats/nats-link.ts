import type { NatsConnection } from '@nats-io/nats-core';
import type { Logger } from '@gateway/shared/telemetry/logger';

/** A connection that may come up late and go away at any time. */
export interface NatsLink {
  /** The connection while it is up; undefined before the first time, while it is lost, and after. */
  readonly connection: NatsConnection | undefined;
  /** Calls at every change of `connection`, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/**
 * Follows a connection. What is asked of a lost connection would pile up in the client's memory and
 * be thrown away when it is back (DESIGN section 8), so callers ask only while the link is up.
 *
 * @param nats as `connectNats` gives it: it settles once, however long that takes.
 */
export function linkNats(nats: Promise<NatsConnection>, log: Logger): NatsLink {
  const listeners = new Set<() => void>();
  let up: NatsConnection | undefined;

  function change(connection: NatsConnection | undefined): void {
    if (up === connection) return;
    up = connection;
    for (const listener of [...listeners]) listener();
  }

  async function follow(): Promise<void> {
    const connection = await nats;
    const statuses = connection.status();
    if (!connection.isClosed()) change(connection);
    for await (const status of statuses) {
      if (status.type === 'disconnect') change(undefined);
      else if (status.type === 'reconnect') change(connection);
    }
    change(undefined);
  }

  follow().catch((error: unknown) => {
    change(undefined);
    log.info({ reason: String(error) }, 'NATS is no longer waited for');
  });

  return {
    get connection() {
      return up;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

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
