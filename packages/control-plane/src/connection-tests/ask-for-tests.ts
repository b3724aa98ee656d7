import {
  CONNECTION_TEST_FORMAT,
  connectionTestAnswerSchema,
  type ConnectionTestProblem,
  type TestedUpstream,
} from '@gateway/shared/connection-tests/test-messages';
import { signQuestion } from '@gateway/shared/connection-tests/signed-question';
import type { MasterKey } from '@gateway/shared/config/master-keys';
import type { SnapshotService } from '@gateway/shared/snapshot/schema';
import type { KnownDataPlane } from '../data-planes/data-plane.ts';
import { parsedAnswer, type AskDataPlane } from '../data-planes/ask-data-planes.ts';

/** How long an answer may take: a data plane gives each upstream 3 s, all at the same time. */
export const TEST_ANSWER_MS = 5000;

/** Why a data plane has no results. `too_old`: it answers no such questions, or has just stopped. */
export const ANSWER_PROBLEMS = [
  'too_old',
  'no_answer',
  'nats_away',
  'refused',
  'not_served',
  'busy',
  'failed',
] as const;

export type AnswerProblem = (typeof ANSWER_PROBLEMS)[number];

/** What one data plane saw. */
export interface DataPlaneResult {
  readonly dataPlane: KnownDataPlane;
  readonly upstreams: readonly TestedUpstream[];
  /** null: `upstreams` has the results. */
  readonly problem: AnswerProblem | null;
}

export interface TestQuestion {
  readonly askedAtMs: number;
  readonly environment: string;
  readonly service: SnapshotService;
  /** Sign the question. */
  readonly keys: readonly MasterKey[];
}

/** Asks these data planes at the same time. Never rejects. */
export function askForTests(
  dataPlanes: readonly KnownDataPlane[],
  { askedAtMs, environment, service, keys }: TestQuestion,
  ask: AskDataPlane,
): Promise<readonly DataPlaneResult[]> {
  return Promise.all(
    dataPlanes.map(async (dataPlane) => {
      const { id } = dataPlane.heartbeat;
      const format = CONNECTION_TEST_FORMAT;
      const question = { format, data_plane: id, asked_at_ms: askedAtMs, environment, service };
      const text = JSON.stringify(question);
      const message = signQuestion(text, keys);
      const reached = await ask(id, message, TEST_ANSWER_MS, 'connection test');
      if (reached.kind !== 'answer') return noResults(dataPlane, WITHOUT_ANSWER[reached.kind]);
      const answer = connectionTestAnswerSchema.safeParse(parsedAnswer(reached.data));
      if (!answer.success) return noResults(dataPlane, 'too_old');
      const { upstreams, problem } = answer.data;
      if (problem !== null) return noResults(dataPlane, OF_ANSWER[problem]);
      return { dataPlane, upstreams, problem };
    }),
  );
}

const WITHOUT_ANSWER = {
  not_listening: 'too_old',
  silent: 'no_answer',
  away: 'nats_away',
} as const satisfies Readonly<Record<string, AnswerProblem>>;

const OF_ANSWER: Readonly<Record<ConnectionTestProblem, AnswerProblem>> = {
  unreadable: 'too_old',
  refused: 'refused',
  not_served: 'not_served',
  busy: 'busy',
  failed: 'failed',
};

function noResults(dataPlane: KnownDataPlane, problem: AnswerProblem): DataPlaneResult {
  return { dataPlane, upstreams: [], problem };
}
