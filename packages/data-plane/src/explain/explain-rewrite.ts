import type { ExplainedRewrite } from '@gateway/shared/explain/explanation';
import type { RequestContext } from '../request/context.ts';
import { upstreamPath } from '../request/proxy-path.ts';
import type { FieldRules, NamedTemplate } from '../routing-table/compile-rewrite.ts';

/** What the route changes of the request. Of values only those that are constant: others may be of the caller. */
export function describeRewrite({
  route,
  version,
  rewritten,
  target,
}: RequestContext): ExplainedRewrite | null {
  const rewrite = route?.rewrite;
  if (rewrite === undefined) return null;
  const { query, requestFields, responseFields } = rewrite;
  const { subPath } = rewritten ?? target;
  const isWhole = version?.service.upstreams.every(({ basePath }) => basePath === '') === true;
  return {
    path: isWhole ? upstreamPath('', { subPath, query: '' }) : subPath,
    host: rewritten?.host ?? null,
    query: { set: (query?.set ?? []).map(ofParameter), remove: [...(query?.removed ?? [])] },
    request_headers: ofFields(requestFields),
    response_headers: ofFields(responseFields),
  };
}

function ofFields(rules: FieldRules | undefined): ExplainedRewrite['request_headers'] {
  const { set = [], added = [], removed = [] } = rules ?? {};
  return { set: set.map(ofField), add: added.map(ofField), remove: [...removed] };
}

function ofField({ name, value: { constants, variables } }: NamedTemplate) {
  return { name, value: variables.length === 0 ? (constants[0] ?? '') : null };
}

/** Constants of a query have escapes. */
function ofParameter(parameter: NamedTemplate) {
  const { name, value } = ofField(parameter);
  return { name, value: value === null ? null : decodeURIComponent(value) };
}
