import type { RequestContext } from '../request/context.ts';
import { takesTrailers } from '../request/trailers.ts';

/** Which trailers pass, in sentences. Names that never pass are the same for all routes. */
export function describeTrailers(ctx: RequestContext): string {
  const { requestFields, responseFields } = ctx.route?.rewrite ?? {};
  const ofResponse = takesTrailers(ctx)
    ? 'Trailers of the response pass: the request has TE: trailers, which the upstream gets too.'
    : 'Trailers of the response are dropped: the request has no TE: trailers that counts.';
  const ofRequest = 'Those of a request pass if its body comes in chunks.';
  const removed = requestFields !== undefined || responseFields !== undefined;
  const without = removed ? ' Fields that `rewrite` removes or sets do not pass.' : '';
  return `${ofResponse} ${ofRequest}${without}`;
}
