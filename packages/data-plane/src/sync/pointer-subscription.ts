import { NAMES } from '@gateway/shared/messaging/names';
import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import { createInbox, nanos, type NatsConnection } from '@nats-io/nats-core';

/** What the bucket says of an environment now. */
export interface PointerNews {
  readonly environment: string;
  readonly text: string;
}

export interface PointerListener {
  readonly onNews: (news: PointerNews) => void;
  /** All that the bucket holds has been told, as it is now; again after each change. */
  readonly onCaughtUp: () => void;
}

export interface PointerSubscription {
  /** Resolves with the reason once nothing more, or not everything, would be delivered. */
  readonly ended: Promise<string>;
  /** Asks the stream itself, and gives the reason where the delivery has fallen behind it. */
  check(): Promise<string | undefined>;
  /** Ends the delivery. What is then still on its way is not delivered. */
  close(): void;
}

const STREAM = `KV_${NAMES.configBucket}`;
const SUBJECT_PREFIX = `$KV.${NAMES.configBucket}.`;
const OPERATION_HEADER = 'KV-Operation';
const CALL_TIMEOUT_MS = 2000;
/** A server that lost the consumer, but not the connection, is noticed within about two of these. */
const HEARTBEAT_MS = 1000;
/** The server forgets the consumer of a process that died after this long. */
const INACTIVE_MS = 30_000;

/**
 * Delivers every pointer of the bucket, then each change as it is stored, in order. A consumer of our
 * own rather than the client's watch: that one notices a lost consumer only after a minute, and after
 * a loss of data resumes behind the sequence that the new data has.
 *
 * @param signal ends a subscription that nobody waits for any more.
 * @throws where the bucket is not there or does not answer in time.
 */
export async function subscribePointers(
  connection: NatsConnection,
  listener: PointerListener,
  signal: AbortSignal,
): Promise<PointerSubscription> {
  const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS, checkAPI: false });
  const manager = await client.jetstreamManager(false);
  const { created, state } = await manager.streams.info(STREAM);
  const ended = Promise.withResolvers<string>();
  let seenSequence = state.last_seq;
  let deliveries = 0;
  let behindAt: number | undefined;
  let closed = false;
  signal.throwIfAborted();

  function receive(message: JsMsg): void {
    if (closed) return;
    deliveries += 1;
    seenSequence = Math.max(seenSequence, message.seq);
    if (message.info.deliverySequence !== deliveries) ended.resolve('a change was not delivered');
    const environment = message.subject.slice(SUBJECT_PREFIX.length);
    const operation = message.headers?.get(OPERATION_HEADER) ?? '';
    // A mark tells that the pointer is gone. Nobody has signed it, so it ends nothing: what is served
    // goes on being served.
    if (operation === '') listener.onNews({ environment, text: message.string() });
    if (message.info.pending === 0) listener.onCaughtUp();
  }

  const heartbeat = { deliver_subject: createInbox(), idle_heartbeat: nanos(HEARTBEAT_MS) };
  const messages = await client.consumers
    .getBoundPushConsumer(heartbeat)
    .then((consumer) => consumer.consume({ callback: receive }));
  void messages.closed().then(() => ended.resolve('the subscription was closed'));
  void followStatus(messages, () => deliveries, ended.resolve);
  // The subscription stands before the consumer begins, so that nothing is delivered to nobody.
  const consumer = await manager.consumers
    .add(STREAM, {
      ...heartbeat,
      filter_subject: `${SUBJECT_PREFIX}>`,
      deliver_policy: DeliverPolicy.LastPerSubject,
      ack_policy: AckPolicy.None,
      max_deliver: 1,
      inactive_threshold: nanos(INACTIVE_MS),
      num_replicas: 1,
      mem_storage: true,
    })
    .catch((error: unknown) => {
      messages.stop();
      throw error;
    });

  const subscription: PointerSubscription = {
    ended: ended.promise,
    async check() {
      const info = await manager.streams.info(STREAM);
      if (info.created !== created) return 'the bucket was made anew';
      // Once may be a change on its way; twice at the same place is a change that will not come.
      if (info.state.last_seq > seenSequence && behindAt === seenSequence) {
        return 'a change was not delivered';
      }
      behindAt = info.state.last_seq > seenSequence ? seenSequence : undefined;
      return undefined;
    },
    close() {
      closed = true;
      messages.stop();
      // Where this fails, as it does when the server is away, the server forgets it by itself.
      if (!connection.isClosed()) {
        manager.consumers.delete(STREAM, consumer.name).catch(() => undefined);
      }
    },
  };
  // The caller is gone that would have closed it.
  if (signal.aborted) subscription.close();
  return subscription;
}

async function followStatus(
  messages: ConsumerMessages,
  deliveries: () => number,
  end: (reason: string) => void,
): Promise<void> {
  for await (const status of messages.status()) {
    if (status.type === 'heartbeats_missed') end('the server went silent');
    else if (status.type === 'consumer_deleted') end('the consumer was deleted');
    else if (status.type === 'heartbeat' && status.lastConsumerSequence > deliveries()) {
      end('a change was not delivered');
    }
  }
}
