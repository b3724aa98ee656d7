import type { Clock } from '@gateway/shared/clock';
import { explanationSchema, type Explanation } from '@gateway/shared/explain/explanation';
import { covers, type TokenReach } from '@gateway/shared/tokens/scopes';
import { GatewayError } from '@gateway/shared/errors/gateway-error';
import { isId } from '@gateway/shared/ids';
import { requireRoute, requireTokenReach } from '../../access/access.ts';
import {
  explainInputSchema,
  givenName,
  otherEnvironmentField,
  questionOf,
  tokenHeaderOf,
  type ExplainInput,
} from '../explain-input.ts';
import type { Route } from '../../routes/route.ts';
import type { Token } from '../../tokens/token.ts';
import {
  askForExplanation,
  chooseDataPlanes,
  unknownDataPlane,
  type AskDataPlane,
} from '../../data-planes/ask-data-planes.ts';
import type { DataPlanes } from '../../data-planes/data-planes.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { invalidField, pathId } from '../../http/input.ts';
import { idParameter } from '../../http/path-parameters.ts';
import { ok } from '../../http/reply.ts';
import { findRoute, routeNotFound } from '../../routes/store/routes.ts';
import type { Database } from '../../store/database.ts';
import { findToken } from '../../access/store/find-tokens.ts';

export interface ExplainDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly dataPlanes: DataPlanes;
  readonly ask: AskDataPlane;
}

/** `POST /v1/routes/{id}/explain`: what would happen to a request, as a live data plane says. */
export function explainEndpoints({ db, clock, dataPlanes, ask }: ExplainDeps): Endpoint[] {
  const explain = endpoint({
    method: 'POST',
    path: '/v1/routes/{id}/explain',
    params: { id: idParameter('rte', 'The id of the route.') },
    operationId: 'explainRequest',
    tag: 'Routes',
    summary: 'Explain a request',
    description:
      'Says what would happen to a request through the route on a live data plane: what each stage decides and why, the ' +
      'version, the quota, the idempotency key, the upstreams and the retry policy. Nothing is sent, and no quota, key or ' +
      'record changes. The answer has the names of headers only, never a value.',
    scope: 'config:read',
    answers: 'one',
    data: explanationSchema,
    errors: ['route_not_found', 'data_plane_unavailable'],
    body: explainInputSchema,
    async handle({ token, params, body, clientAddress }) {
      const route = await findRoute(db, pathId(params, 'rte', routeNotFound));
      if (route === undefined) throw routeNotFound();
      requireRoute(token, route.environment, route.name);
      const field = otherEnvironmentField(route, body);
      if (field !== undefined) {
        const message = `must be ${route.environment}, the environment of the route, or be left out`;
        throw invalidField(`headers.${field}`, message);
      }
      if (body.token_id !== null) {
        requireTokenReach(token, await namedToken(db, body.token_id, route, body));
      }
      const { environment } = route;
      const nowMs = clock.monotonicMs();
      const known = dataPlanes.list(nowMs);
      const choice = { known, nowMs, environment, named: body.data_plane };
      const chosen = chooseDataPlanes(choice);
      if (chosen === undefined) throw invalidField('data_plane', unknownDataPlane(choice));
      const question = questionOf(route, body, clientAddress);
      const explanation = await askForExplanation(chosen, route, question, ask);
      return ok(withinReach(explanation, token));
    },
  });
  return [explain];
}

/** The explanation without the name of a route that the token does not cover. */
function withinReach(explanation: Explanation, token: TokenReach): Explanation {
  const { reached_by: reached } = explanation;
  if (reached === null || reached.route === null) return explanation;
  const mayRead =
    covers(token.environments, reached.environment ?? '') && covers(token.routes, reached.route);
  if (mayRead) return explanation;
  return {
    ...explanation,
    reached_by: { environment: null, route: null, way: null, reason: reached.reason },
  };
}

/** The token with this id. @throws GatewayError if there is no such token, or the headers have another credential in its place */
async function namedToken(
  db: Database,
  id: string,
  route: Route,
  input: ExplainInput,
): Promise<Token> {
  const name = givenName(input, tokenHeaderOf(route));
  if (name !== undefined) {
    throw invalidField(`headers.${name}`, 'must not be given with token_id, which it carries');
  }
  const unknown = invalidField('token_id', 'must be the id of a token');
  if (!isId('tok', id)) throw unknown;
  try {
    return await findToken(db, id);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'token_not_found') throw unknown;
    throw error;
  }
}
