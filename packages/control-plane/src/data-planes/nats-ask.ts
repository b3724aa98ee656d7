import { connectionTestSubject, explainSubject } from '@gateway/shared/messaging/names';
import { RequestError, TimeoutError, type NatsConnection } from '@nats-io/nats-core';
import type { AskDataPlane, QuestionKind, Reached } from './ask-data-planes.ts';

const SUBJECTS: Readonly<Record<QuestionKind, (id: string) => string>> = {
  explain: explainSubject,
  'connection test': connectionTestSubject,
};

/** Asks data planes over NATS with plain messages, which no stream keeps. */
export function createNatsAsk(connection: NatsConnection): AskDataPlane {
  return async (id, message, timeout, kind) => {
    try {
      const { data } = await connection.request(SUBJECTS[kind](id), message, { timeout });
      return { kind: 'answer', data };
    } catch (error) {
      return { kind: failureOf(error) };
    }
  };
}

function failureOf(error: unknown): Exclude<Reached['kind'], 'answer'> {
  if (error instanceof RequestError && error.isNoResponders()) return 'not_listening';
  return error instanceof TimeoutError ? 'silent' : 'away';
}
