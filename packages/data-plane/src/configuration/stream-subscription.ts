import {
  AckPolicy,
  DeliverPolicy,
  jetstream,
  type ConsumerConfig,
  type ConsumerMessages,
  type JsMsg,
} from '@nats-io/jetstream';
import { createInbox, nanos, type NatsConnection } from '@nats-io/nats-core';

export interface StreamNews {
  readonly subject: string;
  readonly data: Uint8Array;
}

export interface StreamListener {
  readonly onNews: (news: StreamNews) => void;
  /** All that the stream holds has been told, as it is now; again after each change. */
  readonly onCaughtUp: () => void;
  /** There is no such stream now. */
  readonly onMissing?: () => void;
}

/** What is delivered of a stream. */
export interface StreamSource extends StreamListener {
  readonly stream: string;
  /** All of its subjects. */
  readonly subjects: string;
  /** The last message of each subject, or all of them. */
  readonly deliver: 'last_of_each' | 'all';
}

/** Up to where a stream was told, so that the next subscription goes on from there. */
export interface StreamPosition {
  readonly created: string;
  readonly sequence: number;
}

export interface StreamSubscription {
  /** As of now. */
  readonly position: StreamPosition;
  /** Resolves with the reason once nothing more, or not everything, would be delivered. */
  readonly ended: Promise<string>;
  /** Asks the stream itself, and gives the reason where the delivery has fallen behind it. */
  check(): Promise<string | undefined>;
  /** Ends the delivery. What is then still on its way is not delivered. */
  close(): void;
}

const OPERATION_HEADER = 'KV-Operation';
const CALL_TIMEOUT_MS = 2000;
/** A server that lost the consumer, but not the connection, is noticed within about two of these. */
const HEARTBEAT_MS = 1000;
/** The server forgets the consumer of a process that died after this long. */
const INACTIVE_MS = 30_000;

/**
 * Delivers what a stream holds, then each message as it is stored, in order. A consumer of our own
 * rather than the client's watch: that one notices a lost consumer only after a minute, and after a loss
 * of data resumes behind the sequence that the new data has.
 *
 * @param from the position of the subscription before: of the same stream, only what came later is told
 * @param signal ends a subscription that nobody waits for any more.
 * @throws where the stream is not there or does not answer in time.
 */
export async function subscribeStream(
  connection: NatsConnection,
  source: StreamSource,
  from: StreamPosition | undefined,
  signal: AbortSignal,
): Promise<StreamSubscription> {
  const { stream } = source;
  const client = jetstream(connection, { timeout: CALL_TIMEOUT_MS, checkAPI: false });
  const manager = await client.jetstreamManager(false);
  const { created, state } = await manager.streams.info(stream).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'StreamNotFoundError') source.onMissing?.();
    throw error;
  });
  const resumes =
    source.deliver === 'all' && from?.created === created && from.sequence <= state.last_seq;
  const ended = Promise.withResolvers<string>();
  let seenSequence = resumes ? from.sequence : state.last_seq;
  let toldSequence = resumes ? from.sequence : 0;
  let deliveries = 0;
  let behindAt: number | undefined;
  let closed = false;
  signal.throwIfAborted();

  function receive(message: JsMsg): void {
    if (closed) return;
    deliveries += 1;
    seenSequence = Math.max(seenSequence, message.seq);
    // What is missing is to be told by the next subscription.
    if (message.info.deliverySequence === deliveries) toldSequence = message.seq;
    else ended.resolve('a change was not delivered');
    const operation = message.headers?.get(OPERATION_HEADER) ?? '';
    // A mark tells that what was under the key is gone. Nobody has signed it, so it ends nothing: what
    // is served goes on being served.
    if (operation === '') source.onNews({ subject: message.subject, data: message.data });
    if (message.info.pending === 0) source.onCaughtUp();
  }

  const heartbeat = { deliver_subject: createInbox(), idle_heartbeat: nanos(HEARTBEAT_MS) };
  const messages = await client.consumers
    .getBoundPushConsumer(heartbeat)
    .then((consumer) => consumer.consume({ callback: receive }));
  void messages.closed().then(() => ended.resolve('the subscription was closed'));
  void followStatus(messages, () => deliveries, ended.resolve);
  // The subscription stands before the consumer begins, so that nothing is delivered to nobody.
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
      return { created, sequence: toldSequence };
    },
    async check() {
      const info = await manager.streams.info(stream);
      if (info.created !== created) return 'the stream was made anew';
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
        manager.consumers.delete(stream, consumer.name).catch(() => undefined);
      }
    },
  };
  // The caller is gone that would have closed it.
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
    if (status.type === 'heartbeats_missed') end('the server went silent');
    else if (status.type === 'consumer_deleted') end('the consumer was deleted');
    else if (status.type === 'heartbeat' && status.lastConsumerSequence > deliveries()) {
      end('a change was not delivered');
    }
  }
}
