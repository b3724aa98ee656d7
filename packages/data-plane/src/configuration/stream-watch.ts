import { pause, type Clock } from '@gateway/shared/clock';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { NatsConnection } from '@nats-io/nats-core';
import { orAborted } from '../nats/abortable.ts';
import { backOffMs } from '../nats/back-off.ts';
import { whenUp, type NatsLink } from '../nats/nats-link.ts';
import {
  subscribeStream,
  type StreamPosition,
  type StreamSource,
  type StreamSubscription,
} from './stream-subscription.ts';

export interface StreamWatchOptions extends StreamSource {
  /** What the log calls it. */
  readonly what: string;
  readonly link: NatsLink;
  readonly clock: Clock;
  /** Gives numbers in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
}

export interface StreamWatch {
  /** Whether changes are being delivered now. */
  readonly connected: boolean;
  stop(): Promise<void>;
}

const CHECK_MS = 3000;
const BACK_OFF = { firstMs: 50, maxMs: 1000 };
const LOG_EVERY_FAILURES = 30;

/**
 * Watches a stream for as long as it is not stopped. The subscription is made anew whenever it ends,
 * falls silent or behind, when the server was restarted, and when the stream was lost and made anew.
 * Each new one begins with the last message of each subject, or goes on where the one before ended.
 */
export function watchStream(options: StreamWatchOptions): StreamWatch {
  const { link, clock, random, log, what } = options;
  const abort = new AbortController();
  let connected = false;
  let position: StreamPosition | undefined;

  async function supervise(): Promise<void> {
    for (let failures = 0; ;) {
      const connection = await whenUp(link, abort.signal);
      if (connection === undefined) return;
      let subscription: StreamSubscription | undefined;
      try {
        const subscribing = subscribeStream(connection, options, position, abort.signal);
        subscription = await orAborted(subscribing, abort.signal);
        connected = true;
        const sinceMs = clock.monotonicMs();
        log.info(`${what} is watched`);
        const reason = await untilEnded(connection, subscription);
        if (abort.signal.aborted) return;
        // One that ended at once counts as a failure, so that a broken server is not asked in a loop.
        if (clock.monotonicMs() - sinceMs > CHECK_MS) failures = 0;
        log.warn({ reason }, `the watch of ${what} ended; it is made anew`);
      } catch (error) {
        if (abort.signal.aborted) return;
        if (failures % LOG_EVERY_FAILURES === 0) {
          log.warn({ reason: String(error) }, `${what} cannot be watched yet`);
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

  async function untilEnded(
    connection: NatsConnection,
    subscription: StreamSubscription,
  ): Promise<string> {
    const ended = Promise.withResolvers<string>();
    const over = new AbortController();
    const lookAtLink = () => {
      if (link.connection !== connection) ended.resolve('the connection was lost');
    };
    const stopListening = link.onChange(lookAtLink);
    lookAtLink();
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
        return `the stream cannot be asked: ${String(error)}`;
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
