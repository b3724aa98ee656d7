import { withoutField } from '@gateway/http/fields/header-fields';
import { IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import type { RequestContext } from '../request/context.ts';
import { mapLocations } from '../request/response-locations.ts';
import { rewriteFields } from '../request/rewrite/rewrite-fields.ts';
import { takesTrailers, withoutRemoved } from '../request/trailers.ts';
import type { Reply } from '../request/stage.ts';
import type { StoredResponse } from './store/response-vault.ts';

/**
 * A stored response as the upstream sent it, marked as a replay. Its addresses are mapped for the caller that gets it, and
 * its fields are rewritten as the route says now.
 */
export function replayedResponse(
  ctx: RequestContext,
  response: StoredResponse,
  body: Buffer,
): Reply {
  const isMapped = ctx.route?.settings.locations === 'map';
  const mapped = isMapped ? mapLocations(response.fields, ctx) : response.fields;
  // The response to the first request may have been a replay of the upstream itself.
  const stored = withoutField(mapped, IDEMPOTENT_REPLAYED);
  const rules = ctx.route?.rewrite?.responseFields;
  const fields = rules === undefined ? stored : rewriteFields(stored, rules, ctx);
  return {
    status: response.status,
    statusText: response.statusText,
    fields: [...fields, 'Idempotent-Replayed', 'true'],
    body,
    trailers: takesTrailers(ctx) ? withoutRemoved(ctx, response.trailers) : undefined,
  };
}
