import type { PassedFields } from '@gateway/http/message/message-writer';
import type { HeaderFields } from '@gateway/http/fields/header-fields';
import type { ServerExchange } from '@gateway/http/exchange';
import type { RequestContext } from './context.ts';
import type { ResponseReceiver, ResponseSink, UpstreamResponse } from './upstream-response.ts';

/** The answer of a stage: a whole response, to which the gateway adds its own fields. Refusals are thrown. */
export interface Reply {
  readonly status: number;
  readonly statusText: string;
  readonly fields: HeaderFields;
  readonly body: Buffer;
  /** The fields after the body, if its caller takes them; undefined: there are none. */
  readonly trailers?: HeaderFields | undefined;
}

export const NO_CONTENT = Buffer.alloc(0);

/**
 * One step of a request. It returns undefined to continue or a reply to answer, and throws a
 * GatewayError to refuse. It returns a promise only if it does I/O, so that the plain path has no await.
 */
export type Stage = (ctx: RequestContext) => Reply | undefined | Promise<Reply | undefined>;

/** A stage with the name that records and explanations give it. */
export type NamedStage<Name extends string = string> = readonly [name: Name, stage: Stage];

/** What differs between requests of the data path, upgrades, and calls that are passed on to the control plane. */
export interface Handling {
  readonly stages: readonly NamedStage[];
  /** What follows the stages if none of them answers. */
  readonly forward: (ctx: RequestContext, receiver: ResponseReceiver) => void;
  /** The fields of the response that are those of an upstream. */
  readonly passFields: (ctx: RequestContext, response: UpstreamResponse) => PassedFields;
  /** Those trailers of an upstream that the caller gets; undefined: none. Without this function it gets none. */
  readonly passTrailers?: (
    ctx: RequestContext,
    response: UpstreamResponse,
    trailers: HeaderFields,
  ) => HeaderFields | undefined;
  /** The other fields of the response. Notes its status. */
  readonly addFields: (ctx: RequestContext, status: number) => string[];
  /**
   * Only for requests that leave HTTP. Joins the caller and the upstream once both have switched to another protocol.
   *
   * @param caller takes the bytes of the upstream
   * @returns what receives them in its place
   */
  readonly openTunnel?: (
    ctx: RequestContext,
    exchange: ServerExchange,
    upstream: UpstreamResponse,
    caller: ResponseSink,
  ) => ResponseSink;
  /** Called once for each request, when it is over. */
  readonly finished: (ctx: RequestContext) => void;
}

/**
 * Runs the stages in order until one answers. Returns undefined if none does. The context gets the name of the stage
 * that throws.
 */
export function runStages(
  stages: readonly NamedStage[],
  ctx: RequestContext,
  first = 0,
): Reply | undefined | Promise<Reply | undefined> {
  let index = first;
  try {
    for (; index < stages.length; index += 1) {
      const result = stages[index]?.[1](ctx);
      if (result instanceof Promise) return continueAfter(result, stages, index, ctx);
      if (result !== undefined) return result;
    }
    return undefined;
  } catch (error) {
    ctx.failedStage = stages[index]?.[0];
    throw error;
  }
}

async function continueAfter(
  pending: Promise<Reply | undefined>,
  stages: readonly NamedStage[],
  index: number,
  ctx: RequestContext,
): Promise<Reply | undefined> {
  let result: Reply | undefined;
  try {
    result = await pending;
  } catch (error) {
    ctx.failedStage = stages[index]?.[0];
    throw error;
  }
  return result ?? runStages(stages, ctx, index + 1);
}
