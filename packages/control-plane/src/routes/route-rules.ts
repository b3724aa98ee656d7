import { affinityProblems, type BelongingRoute } from '@gateway/shared/definitions/route-affinity';
import { mirrorProblems, type MirroringRoute } from '@gateway/shared/definitions/route-mirror';
import { redirectProblem, type RedirectedRoute } from '@gateway/shared/definitions/route-redirect';
import {
  rewriteProblems,
  type RewrittenRoute,
} from '@gateway/shared/definitions/route-rewrite-problems';
import {
  streamingProblems,
  type StreamingRoute,
} from '@gateway/shared/definitions/route-streaming';
import type { z } from 'zod';

type CheckedRoute = RewrittenRoute &
  MirroringRoute &
  RedirectedRoute &
  BelongingRoute &
  StreamingRoute;

/** Refuses a body whose fields contradict each other. */
export function refuseContradictions(route: CheckedRoute, context: z.RefinementCtx): void {
  for (const { path, message } of contradictionsIn(route)) {
    context.addIssue({ code: 'custom', path: [...path], message });
  }
}

/** The fields of a route that contradict others. */
export function* contradictionsIn(route: CheckedRoute) {
  yield* rewriteProblems(route);
  yield* mirrorProblems(route);
  yield* affinityProblems(route);
  yield* streamingProblems(route);
  const message = redirectProblem(route);
  if (message !== undefined) yield { path: ['redirect', 'location'], message };
}
