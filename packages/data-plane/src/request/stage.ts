import type { UpstreamResponse } from './upstream-response.ts';
import type { RequestContext } from './context.ts';

/** What a stage answers with: the upstream's response, to be passed on as it is. Refusals are thrown. */
export interface Reply {
  readonly response: UpstreamResponse;
}

/**
 * One step of a request. It continues (undefined) or answers (a reply), and throws a GatewayError to
 * refuse. It returns a promise only where it does I/O, so that the plain path runs without an await.
 */
export type Stage = (ctx: RequestContext) => Reply | undefined | Promise<Reply | undefined>;

/** Runs the stages in order until one answers. Gives undefined where none does. */
export function runStages(
  stages: readonly Stage[],
  ctx: RequestContext,
): Reply | undefined | Promise<Reply | undefined> {
  for (let index = 0; index < stages.length; index += 1) {
    const result = stages[index]?.(ctx);
    if (result instanceof Promise) {
      // The last one's promise is the answer: to wait for it here would cost another promise.
      return index === stages.length - 1 ? result : continueAfter(result, stages, index + 1, ctx);
    }
    if (result !== undefined) return result;
  }
  return undefined;
}

async function continueAfter(
  pending: Promise<Reply | undefined>,
  stages: readonly Stage[],
  next: number,
  ctx: RequestContext,
): Promise<Reply | undefined> {
  const result = await pending;
  return result ?? runStages(stages.slice(next), ctx);
}
