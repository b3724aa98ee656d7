import { formatField } from '@gateway/shared/formats';
import { QUOTA_RECALL_SUBJECT } from '@gateway/shared/messaging/names';
import type { Msg } from '@nats-io/nats-core';
import { z } from 'zod';
import type { NatsLink } from '../../nats/nats-link.ts';
import type { Released, Recall, RecallAnswer, RecalledWindow } from './recall.ts';

/** The format of both messages. */
const QUOTA_RECALL_FORMAT = 1;
/** Those that do not answer within this time keep what they have. */
const ANSWER_MS = 100;

const requestSchema = z.object({
  format: formatField(QUOTA_RECALL_FORMAT),
  hash: z.string().max(64),
  window_ms: z.int().min(1),
  window: z.int().min(0),
  limit: z.int().min(1),
  wanted: z.int().min(0),
  /** The slot of the data plane that asks; null if it has none. */
  slot: z.int().min(0).nullable(),
});
const answerSchema = z.object({
  format: formatField(QUOTA_RECALL_FORMAT),
  slot: z.int().min(0),
  keeps: z.int().min(0),
  writes: z.int().min(0),
  gives: z.int().min(0),
  former_before_ms: z.number().optional(),
});

/** What this data plane answers with. */
export interface RecallAnswerer {
  /** Its slot; undefined while it has none, so that it has no reserve. */
  readonly slot: () => number | undefined;
  /** See `LeasedQuotaStore`. */
  readonly release: (recalled: RecalledWindow) => Released | undefined;
}

/**
 * Asks over NATS, with plain messages: one that is lost makes a window grant less, and never more, because a data plane does
 * not use what it has released.
 */
export function recallOverNats(link: NatsLink, slot: () => number | undefined): Recall {
  return async ({ key, window, limit, wanted, from }) => {
    const { connection } = link;
    if (connection === undefined || from.length === 0) return [];
    const { hash, windowMs } = key;
    const question = {
      format: QUOTA_RECALL_FORMAT,
      hash,
      window_ms: windowMs,
      window,
      limit,
      wanted,
      slot: slot() ?? null,
    };
    const answers: RecallAnswer[] = [];
    try {
      const messages = await connection.requestMany(
        QUOTA_RECALL_SUBJECT,
        JSON.stringify(question),
        { strategy: 'count', maxMessages: from.length, maxWait: ANSWER_MS },
      );
      for await (const message of messages) {
        const parsed = answerSchema.safeParse(read(message));
        if (parsed.success && from.includes(parsed.data.slot)) answers.push(parsed.data);
      }
    } catch {
      // Without a connection nobody has answered; what was answered before holds.
    }
    return answers;
  };
}

/** Answers the other data planes. The client subscribes again by itself after each interruption. */
export function answerRecalls(link: NatsLink, { slot, release }: RecallAnswerer): void {
  const stopListening = link.onChange(subscribe);
  function subscribe(): void {
    const { connection } = link;
    if (connection === undefined) return;
    stopListening();
    connection.subscribe(QUOTA_RECALL_SUBJECT, {
      callback(error, message) {
        if (error === null) answer(message);
      },
    });
  }
  function answer(message: Msg): void {
    const own = slot();
    const parsed = requestSchema.safeParse(read(message));
    if (own === undefined || !parsed.success || parsed.data.slot === own) return;
    const { hash, window_ms: windowMs, window, limit, wanted } = parsed.data;
    const released = release({ key: { hash, windowMs }, window, limit, wanted });
    if (released === undefined) return;
    message.respond(JSON.stringify({ format: QUOTA_RECALL_FORMAT, slot: own, ...released }));
  }
  subscribe();
}

function read(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
