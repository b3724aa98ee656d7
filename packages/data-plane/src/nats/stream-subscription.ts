import {
  AckPolicy,
  DeliverPolicy,
  type ConsumerConfig,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import { createInbox, nanos, type NatsConnection } from '@nats-io/nats-core';
import type { JetStream } from './nats-link.ts';

export interface StreamMessage {
  readonly subject: string;
  readonly data: Uint8Array;
}

/** A stream, which of its messages are delivered, and to whom. */
export interface StreamSource {
  readonly stream: string;
  /** All of its subjects. */
  readonly subjects: string;
  /** Deliver the last message of each subject, or all messages. */
  readonly deliver: 'last_of_each' | 'all';
  readonly onMessage: (message: StreamMessage) => void;
  /** Everything that the stream holds now has been delivered. Called again after each new message. */
  readonly onCaughtUp: () => void;
}

/** The last message that was delivered, so that the next subscription can continue there. */
export interface StreamPosition {
  readonly created: string;
  readonly sequence: number;
}

export interface StreamSubscription {
  /** As of now. */
  readonly position: StreamPosition;
  /** Resolves with the reason once messages stop arriving, or one is missing. */
  readonly ended: Promise<string>;
  /** Compares the delivery with the stream itself. Resolves with the reason if messages are missing. */
  check(): Promise<string | undefined>;
  /** Ends the delivery. Messages on their way are dropped. */
  close(): void;
}

const OPERATION_HEADER = 'KV-Operation';
/** The loss of the consumer without a loss of the connection is noticed within about two heartbeats. */
const HEARTBEAT_MS = 1000;
/** The server removes the consumer of a dead process after this time. */
const INACTIVE_MS = 30_000;

/**
 * Delivers the messages that a stream holds, then each new one, in order. It manages its own consumer
 * instead of using the client's KV watch: the watch notices a lost consumer only after a minute, and after
 * the stream lost its data it resumes at the old sequence and skips the new data.
 *
 * @param from position of the previous subscription: in the same stream, only later messages are delivered
 * @param signal closes a subscription that its caller no longer waits for
 * @throws the client's error if the stream is missing or does not answer in time
 */
export async function subscribeStream(
  connection: NatsConnection,
  jetstream: JetStream,
  source: StreamSource,
  from: StreamPosition | undefined,
  signal: AbortSignal,
): Promise<StreamSubscription> {
  const { stream } = source;
  const { client } = jetstream;
  const manager = await jetstream.manager;
  const { created, state } = await manager.streams.info(stream);
  const resumes =
    source.deliver === 'all' && from?.created === created && from.sequence <= state.last_seq;
  const ended = Promise.withResolvers<string>();
  let seenSequence = resumes ? from.sequence : state.last_seq;
  let deliveredSequence = resumes ? from.sequence : 0;
  let deliveries = 0;
  let behindAt: number | undefined;
  let closed = false;
  signal.throwIfAborted();

  function receive(message: JsMsg): void {
    if (closed) return;
    deliveries += 1;
    seenSequence = Math.max(seenSequence, message.seq);
    // The next subscription delivers what is missing.
    if (message.info.deliverySequence === deliveries) deliveredSequence = message.seq;
    else ended.resolve('a message was not delivered');
    const operation = message.headers?.get(OPERATION_HEADER) ?? '';
    // A deletion in a KV bucket carries no value and no signature, so it changes nothing here.
    if (operation === '') source.onMessage({ subject: message.subject, data: message.data });
    if (message.info.pending === 0) source.onCaughtUp();
  }

  const heartbeat = { deliver_subject: createInbox(), idle_heartbeat: nanos(HEARTBEAT_MS) };
  const messages = await client.consumers
    .getBoundPushConsumer(heartbeat)
    .then((consumer) => consumer.consume({ callback: receive }));
  void messages.closed().then(() => ended.resolve('the subscription was closed'));
  void followStatus(messages, () => deliveries, ended.resolve);
  // The subscription must exist before the consumer does, or its first messages are lost.
  const consumer = await manager.consumers
    .add(stream, {
      ...heartbeat,
      ...startOf(source, resumes ? from : undefined),
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
  if (consumer.num_pending === 0 && consumer.delivered.consumer_seq === 0) source.onCaughtUp();

  const subscription: StreamSubscription = {
    ended: ended.promise,
    get position() {
      return { created, sequence: deliveredSequence };
    },
    async check() {
      const info = await manager.streams.info(stream);
      if (info.created !== created) return 'the stream was created again';
      // Behind once: a message may be on its way. Behind twice at the same sequence: it will not arrive.
      if (info.state.last_seq > seenSequence && behindAt === seenSequence) {
        return 'a message was not delivered';
      }
      behindAt = info.state.last_seq > seenSequence ? seenSequence : undefined;
      return undefined;
    },
    close() {
      closed = true;
      messages.stop();
      // If this fails, as it does while the server is away, the server removes the consumer by itself.
      if (!connection.isClosed()) {
        manager.consumers.delete(stream, consumer.name).catch(() => undefined);
      }
    },
  };
  // The caller that would have closed it stopped waiting.
  if (signal.aborted) subscription.close();
  return subscription;
}

function startOf(
  { deliver, subjects }: StreamSource,
  from: StreamPosition | undefined,
): Partial<ConsumerConfig> {
  const filter = { filter_subject: subjects };
  if (deliver === 'last_of_each')
    return { ...filter, deliver_policy: DeliverPolicy.LastPerSubject };
  if (from === undefined) return { ...filter, deliver_policy: DeliverPolicy.All };
  const start = { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from.sequence + 1 };
  return { ...filter, ...start };
}

async function followStatus(
  messages: ConsumerMessages,
  deliveries: () => number,
  end: (reason: string) => void,
): Promise<void> {
  for await (const status of messages.status()) {
    if (status.type === 'heartbeats_missed') end('the server stopped sending');
    else if (status.type === 'consumer_deleted') end('the consumer was deleted');
    else if (status.type === 'heartbeat' && status.lastConsumerSequence > deliveries()) {
      end('a message was not delivered');
    }
  }
}
