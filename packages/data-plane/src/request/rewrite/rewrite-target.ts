import { SUB_PATH_REFUSALS } from '@gateway/shared/http/sub-path/refuse-sub-path';
import type { CompiledRewrite, PathRules } from '../../routing-table/compile-rewrite.ts';
import { afterPrefix } from '../caller-prefix.ts';
import { refuseField } from '../check-head.ts';
import type { RequestContext } from '../context.ts';
import { fillTemplate } from '../fill-template.ts';
import { refuseSubPath, type RewrittenTarget } from '../proxy-path.ts';
import { rewriteQuery } from './rewrite-query.ts';

/**
 * What the upstream gets as target and host.
 *
 * @throws GatewayError invalid_request if there is no path, or not one that stays within that of the upstream
 */
export function rewriteTarget(
  ctx: RequestContext,
  rewrite: CompiledRewrite,
  allowEncodedControl: boolean,
): RewrittenTarget {
  const { target } = ctx;
  ctx.applied('rewrite');
  const path =
    rewrite.path === undefined
      ? { subPath: target.subPath, addedPrefix: '' }
      : rewritePath(ctx, rewrite.path, allowEncodedControl);
  return {
    ...path,
    query:
      rewrite.query === undefined ? target.query : rewriteQuery(target.query, rewrite.query, ctx),
    host: rewrite.host === 'preserve' ? (ctx.authority ?? ctx.inbound.host) : rewrite.host,
  };
}

function rewritePath(
  ctx: RequestContext,
  { stripPrefix, addPrefix, path }: PathRules,
  allowEncodedControl: boolean,
): Pick<RewrittenTarget, 'subPath' | 'addedPrefix'> {
  const { subPath, way } = ctx.target;
  if (path !== undefined) {
    const whole = fillTemplate(path, ctx, 'path');
    return { subPath: checked(whole, allowEncodedControl), addedPrefix: '' };
  }
  const added = addPrefix === undefined ? '' : fillTemplate(addPrefix, ctx, 'path');
  const isStripped = way !== undefined && stripPrefix !== undefined;
  const rest = isStripped ? afterPrefix(subPath, stripPrefix) : subPath;
  const whole = added === undefined || rest === undefined ? undefined : added + rest;
  return { subPath: checked(whole, allowEncodedControl), addedPrefix: added ?? '' };
}

/** A caller could have sent parts of the path, so it is checked as one that a caller sends. */
function checked(path: string | undefined, allowEncodedControl: boolean): string {
  if (path === undefined) {
    throw refuseField('path', 'cannot be rewritten, because a value that it needs is missing');
  }
  const reason = refuseSubPath(path);
  if (reason === undefined || (reason === 'encodedControl' && allowEncodedControl)) return path;
  throw refuseField('path', `${SUB_PATH_REFUSALS[reason]}, which it has after rewriting`);
}
