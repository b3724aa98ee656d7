import { rewriteProblems, type RewrittenRoute } from '@gateway/shared/definitions/route-rewrite';
import type { z } from 'zod';
import { invalidRequest } from '../http/input.ts';

/** Refuses a body whose fields contradict each other. */
export function refuseContradictions(route: RewrittenRoute, context: z.RefinementCtx): void {
  for (const { path, message } of rewriteProblems(route)) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
}

/** @throws GatewayError invalid_request if the fields of a changed route contradict each other */
export function requireConsistent(route: RewrittenRoute): void {
  const problems = [...rewriteProblems(route)];
  if (problems.length === 0) return;
  throw invalidRequest(problems.map(({ path, message }) => ({ path: path.join('.'), message })));
}
