import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Msg } from '@nats-io/nats-core';
import type { NatsLink } from './nats-link.ts';

export interface AnswerOptions {
  readonly subject: string;
  /** @returns the answer, as JSON. Never rejects */
  readonly answer: (message: Msg) => Promise<object>;
  readonly log: Logger;
}

/**
 * Answers the messages of a subject. Nothing of a question is logged. The client subscribes again by itself after each
 * interruption.
 */
export function answerQuestions(link: NatsLink, options: AnswerOptions): void {
  const { subject, answer, log } = options;
  const stopListening = link.onChange(subscribe);
  function subscribe(): void {
    const { connection } = link;
    if (connection === undefined) return;
    stopListening();
    connection.subscribe(subject, {
      callback(error, message) {
        if (error === null) void respond(message);
      },
    });
  }

  async function respond(message: Msg): Promise<void> {
    const body = JSON.stringify(await answer(message));
    try {
      message.respond(body);
    } catch (error) {
      log.debug({ subject, reason: String(error) }, 'answer not sent');
    }
  }

  subscribe();
}
