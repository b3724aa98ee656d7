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
/** Errors of a connection that come closer together are one line. */
const ERROR_LOG_EVERY_MS = 10_000;

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
      void logStatus(connection, log, clock);
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

/** A server that refuses the credentials at every try, or each message, must not fill the log. */
async function logStatus(connection: NatsConnection, log: Logger, clock: Clock): Promise<void> {
  let isUp = true;
  let errors = 0;
  let nextErrorMs = -Infinity;
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      if (isUp) log.warn('the connection to NATS was lost');
      isUp = false;
    } else if (status.type === 'reconnect') {
      if (!isUp) log.info('connected to NATS again');
      isUp = true;
    } else if (status.type === 'error') {
      errors += 1;
      const nowMs = clock.monotonicMs();
      if (nowMs < nextErrorMs) continue;
      log.error({ reason: String(status.error), errors }, 'NATS error');
      nextErrorMs = nowMs + ERROR_LOG_EVERY_MS;
      errors = 0;
    }
  }
}
