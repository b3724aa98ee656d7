import type { UpstreamResponse } from './upstream-response.ts';
import type { RequestContext } from './context.ts';

/** The answer of a stage: a response to pass on unchanged. Refusals are thrown. */
export interface Reply {
  readonly response: UpstreamResponse;
}

/**
 * One step of a request. It returns undefined to continue or a reply to answer, and throws a
 * GatewayError to refuse. It returns a promise only if it does I/O, so that the plain path has no await.
 */
export type Stage = (ctx: RequestContext) => Reply | undefined | Promise<Reply | undefined>;

/** Runs the stages in order until one answers. Returns undefined if none does. */
export function runStages(
  stages: readonly Stage[],
  ctx: RequestContext,
): Reply | undefined | Promise<Reply | undefined> {
  for (let index = 0; index < stages.length; index += 1) {
    const result = stages[index]?.(ctx);
    if (result instanceof Promise) {
      // The promise of the last stage is the answer; awaiting it here would cost another promise.
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
