import { mirrorProblems, type MirroringRoute } from '@gateway/shared/definitions/route-mirror';
import { redirectProblem, type RedirectedRoute } from '@gateway/shared/definitions/route-redirect';
import { rewriteProblems, type RewrittenRoute } from '@gateway/shared/definitions/route-rewrite';
import type { z } from 'zod';
import { invalidRequest } from '../http/input.ts';

type CheckedRoute = RewrittenRoute & MirroringRoute & RedirectedRoute;

function* problemsOf(route: CheckedRoute) {
  yield* rewriteProblems(route);
  yield* mirrorProblems(route);
  const message = redirectProblem(route);
  if (message !== undefined) yield { path: ['redirect', 'location'], message };
}

/** Refuses a body whose fields contradict each other. */
export function refuseContradictions(route: CheckedRoute, context: z.RefinementCtx): void {
  for (const { path, message } of problemsOf(route)) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
}

/** @throws GatewayError invalid_request if the fields of a changed route contradict each other */
export function requireConsistent(route: CheckedRoute): void {
  const problems = [...problemsOf(route)];
  if (problems.length === 0) return;
  throw invalidRequest(problems.map(({ path, message }) => ({ path: path.join('.'), message })));
}
