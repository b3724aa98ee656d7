import { withoutField } from '@gateway/http/fields/header-fields';
import { IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import { mapLocations } from '../request/response-locations.ts';
import type { RequestContext } from '../request/context.ts';
import type { Reply } from '../request/stage.ts';
import type { StoredResponse } from './store/response-vault.ts';

/** A stored response as the upstream sent it, marked as a replay. Its addresses are mapped for the caller that gets it. */
export function replayedResponse(
  ctx: RequestContext,
  response: StoredResponse,
  body: Buffer,
): Reply {
  const isMapped = ctx.route?.settings.locations === 'map';
  const fields = isMapped ? mapLocations(response.fields, ctx) : response.fields;
  return {
    status: response.status,
    statusText: response.statusText,
    // The response to the first request may have been a replay of the upstream itself.
    fields: [...withoutField(fields, IDEMPOTENT_REPLAYED), 'Idempotent-Replayed', 'true'],
    body,
  };
}
