import type { AskedRoute, ExplainQuestion } from '@gateway/shared/explain/explain-messages';
import { NO_BODY } from '@gateway/http/message/framing';
import { RequestContext, type ContextOptions } from '../request/context.ts';
import { reachPreflight, type PreflightOptions } from '../cors/reach-preflight.ts';
import { reachRoute, type Reached } from '../request/reach-route.ts';
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
  reach: PreflightOptions,
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
  const usual = reachRoute({ url, fields: question.fields }, table, reach);
  const reached = askedFirst(reachPreflight(head, usual, table, reach), asked) ?? usual;
  const way = asked === null ? undefined : explainReach(asked, reached, table, reach);
  const ctx = new RequestContext({ head, connection }, reached, options);
  ctx.body = exampleBody(body);
  return { ctx, found: way };
}

/** A preflight may be for several routes. The answer is about the one that is asked about, if it is one of them. */
function askedFirst(reached: Reached | undefined, asked: AskedRoute | null): Reached | undefined {
  const preflight = reached?.target.preflight;
  if (reached === undefined || preflight === undefined || asked === null) return reached;
  const first = preflight.routes.find(
    ({ name, environment }) => name === asked.name && environment === asked.environment,
  );
  if (first === undefined) return reached;
  const routes = [first, ...preflight.routes.filter((route) => route !== first)];
  return {
    ...reached,
    target: { ...reached.target, routeName: first.name, preflight: { ...preflight, routes } },
  };
}
