import { CONNECTION_TEST_FORMAT } from '@gateway/shared/connection-tests/test-messages';
import { connectionTestSubject } from '@gateway/shared/messaging/names';
import type { Logger } from '@gateway/shared/telemetry/logger';
import type { Msg } from '@nats-io/nats-core';
import { answerQuestions } from '../nats/answer-questions.ts';
import type { NatsLink } from '../nats/nats-link.ts';
import type { TestService } from './test-service.ts';

export interface AnswerConnectionTestsOptions {
  readonly dataPlaneId: string;
  readonly testService: TestService;
  readonly log: Logger;
}

/** Answers whether this data plane can connect to upstreams. */
export function answerConnectionTests(link: NatsLink, options: AnswerConnectionTestsOptions): void {
  const { dataPlaneId, testService, log } = options;
  const answer = async (message: Msg) => ({
    format: CONNECTION_TEST_FORMAT,
    ...(await testService(message.string())),
  });
  answerQuestions(link, { subject: connectionTestSubject(dataPlaneId), answer, log });
}
