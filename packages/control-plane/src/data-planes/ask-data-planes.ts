import {
  explainAnswerSchema,
  type ExplainQuestion,
} from '@gateway/shared/explain/explain-messages';
import type { Explanation } from '@gateway/shared/explain/explanation';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { KnownDataPlane } from './data-plane.ts';

/** What came of a message to a data plane. */
export type Reached =
  | { readonly kind: 'answer'; readonly data: Uint8Array }
  /** Nobody listens: the data plane is of a version that answers no such messages, or has just stopped. */
  | { readonly kind: 'not_listening' }
  | { readonly kind: 'silent' }
  /** NATS cannot be reached. */
  | { readonly kind: 'away' };

/** What a question is about: what would happen to a request, or whether upstreams can be reached. */
export type QuestionKind = 'explain' | 'connection test';

/** Sends a question to the data plane with this id and waits for its answer. Never rejects. */
export type AskDataPlane = (
  id: string,
  message: string,
  timeoutMs: number,
  kind: QuestionKind,
) => Promise<Reached>;

/** How long a data plane may take. It may read a key and a quota from NATS, and each of these has its own deadline. */
export const ANSWER_TIMEOUT_MS = 3000;
/** How many data planes are tried if the first ones do not listen. */
const MAX_TRIED = 3;
const MAX_NAMED = 10;

export interface DataPlaneChoice {
  /** Live ones and stale ones. */
  readonly known: readonly KnownDataPlane[];
  readonly nowMs: number;
  readonly environment: string;
  /** The id of the data plane that the caller names; null: any. */
  readonly named: string | null;
}

/**
 * The data planes to ask, the best first: those that serve the newest version of the environment.
 *
 * @returns undefined if the named one is not known
 * @throws GatewayError `data_plane_unavailable` if none is live, or the named one is not
 */
export function chooseDataPlanes(choice: DataPlaneChoice): readonly KnownDataPlane[] | undefined {
  const { known, nowMs, environment, named } = choice;
  if (named !== null) {
    const one = known.find(({ heartbeat }) => heartbeat.id === named);
    if (one !== undefined && one.liveUntilMs < nowMs) {
      const seconds = Math.round((nowMs - one.heardMs) / 1000);
      throw unavailable(
        `The data plane ${named} is not live: its last heartbeat is ${seconds} s old.`,
      );
    }
    return one === undefined ? undefined : [one];
  }
  const live = known.filter(({ liveUntilMs }) => liveUntilMs >= nowMs);
  if (live.length === 0) throw unavailable('No data plane is live.');
  const versionOf = ({ heartbeat }: KnownDataPlane) => heartbeat.config_versions[environment] ?? 0;
  return live.toSorted((a, b) => versionOf(b) - versionOf(a)).slice(0, MAX_TRIED);
}

/** What is wrong with a named data plane that is not known. */
export function unknownDataPlane(choice: Pick<DataPlaneChoice, 'known' | 'nowMs'>): string {
  return `must be the id of a live data plane; live are: ${liveIds(choice)}`;
}

function liveIds({ known, nowMs }: Pick<DataPlaneChoice, 'known' | 'nowMs'>): string {
  const ids = known
    .filter(({ liveUntilMs }) => liveUntilMs >= nowMs)
    .map(({ heartbeat }) => heartbeat.id);
  if (ids.length === 0) return 'none';
  return ids.slice(0, MAX_NAMED).join(', ') + (ids.length > MAX_NAMED ? ', …' : '');
}

/** The route that is asked about. */
export interface AskedRoute {
  readonly id: string;
  readonly environment: string;
}

/**
 * Asks the first of these data planes that listens. The caller gets an answer only if it speaks of the route that was
 * asked about: the question has headers of the caller, and the data plane may have another configuration.
 *
 * @throws GatewayError `data_plane_unavailable`, or `internal_error` if the data plane failed
 */
export async function askForExplanation(
  dataPlanes: readonly KnownDataPlane[],
  route: AskedRoute,
  question: ExplainQuestion,
  ask: AskDataPlane,
): Promise<Explanation> {
  const message = JSON.stringify(question);
  let last: GatewayError | undefined;
  for (const { heartbeat } of dataPlanes) {
    const { id } = heartbeat;
    const version = heartbeat.gateway_version ?? 'unknown';
    const reached = await ask(id, message, ANSWER_TIMEOUT_MS, 'explain');
    switch (reached.kind) {
      case 'answer':
        return explanationOf(route, reached.data, id, version);
      case 'away':
        throw unavailable('NATS cannot be reached, so no data plane can be asked.');
      case 'silent':
        throw unavailable(
          `The data plane ${id} did not answer within ${ANSWER_TIMEOUT_MS / 1000} s. Name another one in data_plane.`,
        );
      case 'not_listening':
        last = unavailable(
          `The data plane ${id} does not explain requests: it has just stopped, or its version, ${version}, is too old.`,
        );
    }
  }
  throw last ?? unavailable('No data plane is live.');
}

function explanationOf(
  route: AskedRoute,
  data: Uint8Array,
  id: string,
  version: string,
): Explanation {
  const answer = explainAnswerSchema.safeParse(parsedAnswer(data));
  if (!answer.success || answer.data.problem === 'unreadable') {
    throw unavailable(
      `The data plane ${id} and this control plane do not understand each other: the data plane has the version ${version}.`,
    );
  }
  if (answer.data.explanation === null) {
    throw new GatewayError(
      'internal_error',
      `The data plane ${id} could not explain the request. Its log has the reason.`,
    );
  }
  const { explanation } = answer.data;
  if (
    (explanation.environment ?? route.environment) !== route.environment ||
    (explanation.route_id ?? route.id) !== route.id
  ) {
    throw unavailable(
      `The data plane ${id} has another configuration: it does not serve the route with this id under its name.`,
    );
  }
  return explanation;
}

/** The JSON in an answer; undefined if it is none. */
export function parsedAnswer(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function unavailable(message: string): GatewayError {
  return new GatewayError('data_plane_unavailable', message, { headers: { 'retry-after': '2' } });
}
