import type { NatsConnection } from '@nats-io/nats-core';
import { connect } from '@nats-io/transport-node';
import { pause, type Clock } from '../clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { ConfigError } from '../config/environment.ts';
import { parseNatsUrl } from './nats-url.ts';
import { refuseServerVersion } from './server-version.ts';

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
/** Errors within this time are one log line. */
const ERROR_LOG_EVERY_MS = 10_000;

/**
 * Connects to NATS: retries until the first connection is made, then reconnects for ever. A half-open connection is
 * detected within about six seconds; the client's default is minutes.
 *
 * @throws the signal's reason if the signal aborts; Error if the URL is invalid
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
        // A server that refuses the credentials may not know new ones yet.
        ignoreAuthErrorAbort: true,
        reconnectTimeWait: 250,
        reconnectJitter: 250,
        pingInterval: 2000,
        maxPingOut: 2,
        // Otherwise every request captures a stack trace, which only failures need.
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
        log.warn({ reason: String(error) }, 'NATS unreachable; retrying');
      }
      await pause(clock, RETRY_MS, signal);
    }
  }
}

/**
 * For the start of a process, which must not begin with a server that may lose data. A server that is replaced later by
 * an older one is used, with a line in the log.
 *
 * @throws ConfigError that says which version to install; nothing if there is no connection yet
 */
export function assertServerVersion(connection: NatsConnection | undefined): void {
  const refusal = serverRefusal(connection);
  if (refusal !== undefined) throw new ConfigError(`NATS_URL: ${refusal}`);
}

/** Logs an error if the connected server would be refused at the start. */
export function logServerVersion(connection: NatsConnection, log: Logger): void {
  const refusal = serverRefusal(connection);
  if (refusal !== undefined) log.error({ reason: refusal }, 'unsupported NATS server');
}

function serverRefusal(connection: NatsConnection | undefined): string | undefined {
  const version = connection?.info?.version;
  return version === undefined ? undefined : refuseServerVersion(version);
}

/** Logs changes of the connection. Repeated errors, such as refused credentials, must not fill the log. */
async function logStatus(connection: NatsConnection, log: Logger, clock: Clock): Promise<void> {
  let isUp = true;
  let errors = 0;
  let nextErrorMs = -Infinity;
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      if (isUp) log.warn('NATS connection lost; reconnecting');
      isUp = false;
    } else if (status.type === 'reconnect') {
      if (!isUp) log.info('reconnected to NATS');
      isUp = true;
      logServerVersion(connection, log);
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
