import type { ExplainQuestion } from '@gateway/shared/explain/explain-messages';
import { NO_BODY } from '@gateway/http/message/framing';
import { RequestContext, type ContextOptions } from '../request/context.ts';
import { reachRoute, type ReachOptions } from '../request/reach-route.ts';
import { exampleBody } from './example-body.ts';
import { explainReach, type ReachFinding } from './explain-reach.ts';

/** A request that is only asked about. */
export interface ExplainedRequest {
  readonly ctx: RequestContext;
  /** undefined: the request names the route. */
  readonly found: ReachFinding | undefined;
}

/** The context of a request that is only asked about: as if it had arrived over plain HTTP/1.1. */
export function explainContext(
  question: ExplainQuestion,
  reach: ReachOptions,
  options: ContextOptions,
): ExplainedRequest {
  const body = Buffer.from(question.body ?? '', 'utf8');
  const head = {
    method: question.method,
    url: question.path,
    httpVersion: '1.1',
    framing: body.length === 0 ? NO_BODY : { kind: 'length' as const, bytes: body.length },
  };
  const connection = { address: question.client_ip, isSecure: false };
  const { asked } = question;
  const table = options.table();
  const url = question.path + question.query;
  const reached = reachRoute({ url, fields: question.fields }, table, reach);
  const found = asked === null ? undefined : explainReach(asked, reached, table, reach);
  const ctx = new RequestContext({ head, connection }, reached, options);
  ctx.body = exampleBody(body);
  return { ctx, found };
}
