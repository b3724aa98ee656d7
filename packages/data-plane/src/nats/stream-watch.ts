import { backOffMs, pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { NatsConnection } from '@nats-io/nats-core';
import { orAborted, whenUp } from './await-link.ts';
import type { NatsLink } from './nats-link.ts';
import {
  subscribeStream,
  type StreamPosition,
  type StreamSource,
  type StreamSubscription,
} from './stream-subscription.ts';

export interface StreamWatchOptions extends StreamSource {
  readonly link: NatsLink;
  readonly clock: Clock;
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

export interface StreamWatch {
  /** Whether the server delivers messages now. */
  readonly connected: boolean;
  stop(): Promise<void>;
}

const CHECK_MS = 3000;
const BACK_OFF = { firstMs: 50, maxMs: 1000 };
const LOG_EVERY_FAILURES = 30;

/**
 * Watches a stream until it is stopped. It subscribes again whenever the subscription ends, misses a message
 * or receives nothing, after a restart of the server, and when the stream was lost and created again. A new
 * subscription begins with the last message of each subject, or continues where the previous one ended.
 */
export function watchStream(options: StreamWatchOptions): StreamWatch {
  const { link, clock, random, log, stream } = options;
  const abort = new AbortController();
  let connected = false;
  let position: StreamPosition | undefined;

  async function supervise(): Promise<void> {
    for (let failures = 0; ;) {
      const connection = await whenUp(link, abort.signal);
      if (connection === undefined) return;
      let subscription: StreamSubscription | undefined;
      try {
        subscription = await subscribe(connection);
        connected = true;
        const sinceMs = clock.monotonicMs();
        log.info({ stream }, 'watch started');
        const reason = await untilEnded(connection, subscription);
        if (abort.signal.aborted) return;
        // A watch that ended at once counts as a failure, so that a broken server is not asked in a loop.
        if (clock.monotonicMs() - sinceMs > CHECK_MS) failures = 0;
        log.warn({ stream, reason }, 'watch ended; resubscribing');
      } catch (error) {
        if (abort.signal.aborted) return;
        if (failures % LOG_EVERY_FAILURES === 0) {
          log.warn({ stream, reason: String(error) }, 'watch failed to start; retrying');
        }
      } finally {
        connected = false;
        position = subscription?.position ?? position;
        subscription?.close();
      }
      failures += 1;
      await pause(clock, backOffMs(failures, BACK_OFF, random()), abort.signal);
    }
  }

  async function subscribe(connection: NatsConnection): Promise<StreamSubscription> {
    const { jetstream } = link;
    if (jetstream === undefined) throw new Error('the connection was lost');
    const subscribing = subscribeStream(connection, jetstream, options, position, abort.signal);
    return await orAborted(subscribing, abort.signal);
  }

  async function untilEnded(
    connection: NatsConnection,
    subscription: StreamSubscription,
  ): Promise<string> {
    const ended = Promise.withResolvers<string>();
    const over = new AbortController();
    const checkLink = () => {
      if (link.connection !== connection) ended.resolve('the connection was lost');
    };
    const stopListening = link.onChange(checkLink);
    checkLink();
    const stop = () => ended.resolve('stopped');
    abort.signal.addEventListener('abort', stop);
    if (abort.signal.aborted) stop();
    void subscription.ended.then(ended.resolve);
    void checkRegularly(subscription, over.signal).then(ended.resolve);
    try {
      return await ended.promise;
    } finally {
      over.abort();
      stopListening();
      abort.signal.removeEventListener('abort', stop);
    }
  }

  async function checkRegularly(check: StreamSubscription, signal: AbortSignal): Promise<string> {
    for (;;) {
      await pause(clock, CHECK_MS, signal);
      if (signal.aborted) return 'stopped';
      try {
        const reason = await check.check();
        if (reason !== undefined) return reason;
      } catch (error) {
        return `the stream cannot be read: ${String(error)}`;
      }
    }
  }

  const supervised = supervise();
  return {
    get connected() {
      return connected;
    },
    async stop() {
      abort.abort();
      await supervised;
    },
  };
}
