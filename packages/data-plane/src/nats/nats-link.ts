import {
  jetstream,
  jetstreamManager,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { Logger } from '@gateway/shared/telemetry/logger';

/** The one JetStream client of this process. */
export interface JetStream {
  readonly client: JetStreamClient;
  readonly manager: Promise<JetStreamManager>;
}

/** A connection to NATS that may come up late and go away at any time. A process has one. */
export interface NatsLink {
  /** The connection while it is up; undefined before the first connect, while it is lost, and after the end. */
  readonly connection: NatsConnection | undefined;
  /** JetStream over `connection`; undefined while the link is down. */
  readonly jetstream: JetStream | undefined;
  /** How often the connection was lost: a server that answers next may have lost its data. */
  readonly losses: number;
  /** Calls at every change of `connection`, until the returned function is called. */
  onChange(listener: () => void): () => void;
}

/** For calls without a deadline of their own. */
const CALL_TIMEOUT_MS = 2000;

/**
 * Follows a connection. The client queues calls of a lost connection in memory and drops them at the
 * reconnect, so callers ask only while the link is up.
 *
 * @param nats as `connectNats` returns it: it settles once, however long that takes
 */
export function linkNats(nats: Promise<NatsConnection>, log: Logger): NatsLink {
  const listeners = new Set<() => void>();
  let up: NatsConnection | undefined;
  let stream: JetStream | undefined;
  let losses = 0;

  function change(connection: NatsConnection | undefined): void {
    if (up === connection) return;
    up = connection;
    if (connection === undefined) losses += 1;
    for (const listener of [...listeners]) listener();
  }

  async function follow(): Promise<void> {
    const connection = await nats;
    const options = { timeout: CALL_TIMEOUT_MS, checkAPI: false };
    stream = {
      client: jetstream(connection, options),
      manager: jetstreamManager(connection, options),
    };
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
    log.info({ reason: String(error) }, 'gave up connecting to NATS');
  });

  return {
    get connection() {
      return up;
    },
    get jetstream() {
      return up === undefined ? undefined : stream;
    },
    get losses() {
      return losses;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
