import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { pause, type Clock } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { parseNatsUrl } from './nats-url.ts';

export interface NatsOptions {
  /** See `parseNatsUrl`. */
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const RETRY_MS = 500;
const LOG_EVERY_ATTEMPTS = 20;

/**
 * Connects to NATS and stays connected: waits as long as it takes for the first connection, then
 * reconnects for ever. A half-open link is noticed within about six seconds, where the client's own
 * default is minutes.
 *
 * @throws the signal's reason once the signal aborts, and where the URL is none.
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const { log, clock, signal } = options;
  const { servers, ...access } = parseNatsUrl(options.url);
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    try {
      const connection = await connect({
        ...access,
        servers: [...servers],
        name: options.name,
        timeout: 2000,
        maxReconnectAttempts: -1,
        // A server that refuses the credentials may be one that has not heard of new ones yet.
        ignoreAuthErrorAbort: true,
        reconnectTimeWait: 250,
        reconnectJitter: 250,
        pingInterval: 2000,
        maxPingOut: 2,
        // Or every request to NATS pays for a stack trace that only its failure would show.
        noAsyncTraces: true,
      });
      if (signal.aborted) {
        await connection.close();
        signal.throwIfAborted();
      }
      log.info('connected to NATS');
      void logStatus(connection, log);
      return connection;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt % LOG_EVERY_ATTEMPTS === 0) {
        log.warn({ reason: String(error) }, 'NATS cannot be reached; waiting for it');
      }
      await pause(clock, RETRY_MS, signal);
    }
  }
}

async function logStatus(connection: NatsConnection, log: Logger): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') log.warn('the connection to NATS was lost');
    else if (status.type === 'reconnect') log.info('connected to NATS again');
    else if (status.type === 'error') log.error({ reason: String(status.error) }, 'NATS error');
  }
}
