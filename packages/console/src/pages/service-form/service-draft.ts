import type { components } from '@gateway/client';
import { mergedNames, SERVICE_FORM, usualValues } from '@gateway/client/form-fields';
import { valueAt, withValue, type Draft } from '../../ui/form/draft.ts';
import { ownSettings } from '../../ui/form/own-settings.ts';

type Service = components['schemas']['Service'];

/** The fields of a service whose objects a PATCH merges. */
export const MERGED_SERVICE_FIELDS = [...mergedNames(SERVICE_FORM), 'tls'];

/** The fields that may hold a secret while it is typed. */
export const SECRET_SERVICE_FIELDS = ['credential', 'tls', 'tls.client_certificate'] as const;

/** An upstream that was not filled in yet. */
export const NEW_UPSTREAM = { url: '', region: null, weight: 1 } as const;

/** `url` is that of the first upstream, so it is left out. */
const { url: _firstUrl, ...usual } = usualValues(SERVICE_FORM);

/** The draft of a service that does not exist yet: what the API takes for a field that is left out. */
export const NEW_SERVICE: Draft = { ...usual, upstreams: [NEW_UPSTREAM] };

/** What can be edited of a service. */
export function draftOf(service: Service): Draft {
  const { health_path, health_check } = service;
  const fields: Draft = { ...service };
  // A response has the path that is requested, also where the setting is null.
  const path = health_check.path === health_path ? null : health_check.path;
  const edited = Object.keys(NEW_SERVICE).map((name): [string, unknown] => [name, fields[name]]);
  return { ...Object.fromEntries<unknown>(edited), health_check: { ...health_check, path } };
}

const CHECK_TIMEOUT = 'health_check.timeout_ms';
/** The API has this timeout for a check, or the interval if that is shorter. */
const USUAL_CHECK_TIMEOUT_MS = 2000;

/** What of a draft does not have its default. */
export function ownService(draft: Draft): Draft {
  const intervalMs = valueAt(draft, 'health_check.interval_ms');
  const usualMs =
    typeof intervalMs === 'number'
      ? Math.min(USUAL_CHECK_TIMEOUT_MS, intervalMs)
      : USUAL_CHECK_TIMEOUT_MS;
  const isUsual = valueAt(draft, CHECK_TIMEOUT) === usualMs;
  return ownSettings(SERVICE_FORM, isUsual ? withValue(draft, CHECK_TIMEOUT, undefined) : draft);
}
