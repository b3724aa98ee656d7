import type { components } from '@gateway/client';
import { changesBetween, type Draft } from '../../ui/form/draft.ts';
import { MERGED_SERVICE_FIELDS } from './service-draft.ts';

/** Where the service is that a form creates, or which one it edits. */
export type FormTarget = { readonly environment: string } | { readonly serviceId: string };

/** What a connection depends on. */
const TESTED = ['upstreams', 'protocol', 'health_path', 'health_check', 'tls'];

type Question = components['schemas']['ConnectionTestQuestion'];

/** What the API is asked about the draft of a form: with what was changed, as it will be saved. */
export function testQuestion(base: Draft, draft: Draft, target: FormTarget): Question {
  const changed = Object.entries(changesBetween(base, draft, MERGED_SERVICE_FIELDS));
  const tested = Object.fromEntries(changed.filter(([name]) => TESTED.includes(name)));
  const question =
    'serviceId' in target
      ? { service_id: target.serviceId, ...tested }
      : { environment: target.environment, upstreams: draft['upstreams'], ...tested };
  // The API checks what was typed, and says what is wrong.
  return question;
}
