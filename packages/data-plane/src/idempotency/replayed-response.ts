import { withoutField } from '@gateway/http/fields/header-fields';
import { IDEMPOTENT_REPLAYED } from '@gateway/shared/http/headers';
import type { Reply } from '../request/stage.ts';
import type { StoredResponse } from './store/response-vault.ts';

/** A stored response as the upstream sent it, marked as a replay. */
export function replayedResponse(response: StoredResponse, body: Buffer): Reply {
  return {
    status: response.status,
    statusText: response.statusText,
    // The response to the first request may have been a replay of the upstream itself.
    fields: [...withoutField(response.fields, IDEMPOTENT_REPLAYED), 'Idempotent-Replayed', 'true'],
    body,
  };
}
