import {
  EXPLAIN_FORMAT,
  explainQuestionSchema,
  type ExplainAnswer,
} from '@gateway/shared/explain/explain-messages';
import { explainSubject } from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Msg } from '@nats-io/nats-core';
import type { NatsLink } from '../nats/nats-link.ts';
import type { Explain } from './explain-request.ts';

export interface AnswerOptions {
  readonly dataPlaneId: string;
  readonly explain: Explain;
  readonly log: Logger;
}

/**
 * Answers what would happen to a request. Nothing of a question is logged or kept, because its header values may be
 * secrets. The client subscribes again by itself after each interruption.
 */
export function answerExplains(link: NatsLink, options: AnswerOptions): void {
  const stopListening = link.onChange(subscribe);
  function subscribe(): void {
    const { connection } = link;
    if (connection === undefined) return;
    stopListening();
    connection.subscribe(explainSubject(options.dataPlaneId), {
      callback(error, message) {
        if (error === null) void answer(message, options);
      },
    });
  }
  subscribe();
}

/** Never rejects. */
async function answer(message: Msg, options: AnswerOptions): Promise<void> {
  const body = JSON.stringify({ format: EXPLAIN_FORMAT, ...(await answerTo(message, options)) });
  try {
    message.respond(body);
  } catch (error) {
    options.log.debug({ reason: String(error) }, 'explanation not sent');
  }
}

async function answerTo(
  message: Msg,
  { explain, log }: AnswerOptions,
): Promise<Omit<ExplainAnswer, 'format'>> {
  const question = explainQuestionSchema.safeParse(read(message));
  if (!question.success) return { explanation: null, problem: 'unreadable' };
  try {
    return { explanation: await explain(question.data), problem: null };
  } catch (error) {
    log.error({ err: error }, 'request could not be explained');
    return { explanation: null, problem: 'failed' };
  }
}

function read(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}
