import { escapeBytes } from '../text/escape-bytes.ts';
import { STATUS_CODES } from 'node:http';
import type { ValueTemplate } from '@gateway/shared/definitions/value-template';
import {
  hasParentSegment,
  type LocationTemplate,
} from '@gateway/shared/definitions/route-redirect';
import { SUB_PATH_REFUSALS } from '@gateway/shared/http/sub-path/refuse-sub-path';
import type { CompiledAnswer } from '../routing-table/compile-answer.ts';
import { refuseField } from './check-head.ts';
import type { RequestContext } from './context.ts';
import { fillTemplate, type Place, type VariableSource } from './fill-template.ts';
import { NO_CONTENT, type Reply } from './stage.ts';

/**
 * The answer that a route gives itself. The body of the request is not read.
 *
 * @throws GatewayError for an upgrade over HTTP/2, which any 2xx would open (RFC 8441 section 5), and for a request that
 *   lacks what a redirect is made of
 */
export function answerFixed(ctx: RequestContext, answer: CompiledAnswer): Reply {
  const { kind, status } = answer;
  if (ctx.leavesHttp && ctx.httpVersion === '2.0' && status < 300) {
    throw refuseField('upgrade', `is not possible on a route that answers ${status} itself`);
  }
  const statusText = STATUS_CODES[status] ?? '';
  if (answer.kind === 'respond') {
    ctx.applied(kind);
    const body = ctx.method === 'HEAD' ? NO_CONTENT : answer.body;
    return { status, statusText, fields: answer.fields, body };
  }
  const location = locationOf(answer.location, ctx);
  if (location !== undefined && hasParentSegment(location)) {
    throw refuseField('path', `${SUB_PATH_REFUSALS.parent}, which that of the redirect has`);
  }
  if (location === undefined) {
    throw refuseField('authorization', MISSING_CLAIM);
  }
  ctx.applied(kind);
  const fields = ['Location', location, 'Content-Length', '0'];
  return { status, statusText, fields, body: NO_CONTENT };
}

const MISSING_CLAIM =
  'must be a JWT in which the claims that the redirect of the route is made of are plain values that a path can have';

/**
 * The location of a redirect for a request; undefined if the request lacks the value of a variable. A request never
 * chooses its host: that of a URL ends before the first variable, and a path does not begin with two slashes.
 */
export function locationOf(
  { path, query, fragment }: LocationTemplate,
  source: VariableSource,
): string | undefined {
  const where = filled(path, source, 'path', NOT_IN_PATH);
  const rest =
    query === undefined
      ? escapeBytes(source.target.query, NOT_IN_QUERY)
      : filledAfter('?', query, source);
  const end = fragment === undefined ? '' : filledAfter('#', fragment, source);
  if (where === undefined || rest === undefined || end === undefined) return undefined;
  return where.replace(/^\/{2,}/, '/') + rest + end;
}

function filledAfter(
  mark: string,
  template: ValueTemplate,
  source: VariableSource,
): string | undefined {
  const text = filled(template, source, 'query', NOT_IN_QUERY);
  return text === undefined || text === '' ? text : mark + text;
}

/** RFC 3986 sections 3.3 and 3.4, and the brackets of addresses. */
const NOT_IN_PATH = /[^A-Za-z0-9\-._~:/@!$&'()*+,;=%[\]]/g;
const NOT_IN_QUERY = /[^A-Za-z0-9\-._~:/@!$&'()*+,;=%[\]?]/g;

function filled(
  template: ValueTemplate,
  source: VariableSource,
  place: Place,
  notIn: RegExp,
): string | undefined {
  const text = fillTemplate(template, source, place);
  return text === undefined ? undefined : escapeBytes(text, notIn);
}
