import {
  EXPLAIN_FORMAT,
  explainQuestionSchema,
  type ExplainAnswer,
} from '@gateway/shared/explain/explain-messages';
import { explainSubject } from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Msg } from '@nats-io/nats-core';
import { answerQuestions } from '../nats/answer-questions.ts';
import type { NatsLink } from '../nats/nats-link.ts';
import type { Explain } from './explain-request.ts';

export interface AnswerExplainsOptions {
  readonly dataPlaneId: string;
  readonly explain: Explain;
  readonly log: Logger;
}

/** Answers what would happen to a request. Nothing of a question is kept, because its header values may be secrets. */
export function answerExplains(link: NatsLink, options: AnswerExplainsOptions): void {
  const { dataPlaneId, log } = options;
  const answer = async (message: Msg) => ({
    format: EXPLAIN_FORMAT,
    ...(await answerTo(message, options)),
  });
  answerQuestions(link, { subject: explainSubject(dataPlaneId), answer, log });
}

async function answerTo(
  message: Msg,
  { explain, log }: AnswerExplainsOptions,
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
