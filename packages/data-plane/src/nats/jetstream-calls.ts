import {
  jetstream,
  jetstreamManager,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { NatsLink } from './nats-link.ts';

/** What asks JetStream over a connection that is up. */
export interface JetStreamCalls {
  readonly client: JetStreamClient;
  readonly manager: Promise<JetStreamManager>;
}

/**
 * Gives what to ask JetStream with, made once for each connection; undefined while the link is down, as
 * the client would hold a question back and send it later.
 *
 * @param timeoutMs of each call
 */
export function jetStreamOver(link: NatsLink, timeoutMs: number): () => JetStreamCalls | undefined {
  let made: (JetStreamCalls & { readonly connection: NatsConnection }) | undefined;
  return () => {
    const { connection } = link;
    if (connection === undefined) return undefined;
    if (made?.connection !== connection) {
      const options = { timeout: timeoutMs, checkAPI: false };
      const manager = jetstreamManager(connection, options);
      made = { connection, client: jetstream(connection, options), manager };
    }
    return made;
  };
}
