import type { components } from '@gateway/client';
import { mergedNames, ROUTE_FORM, usualValues } from '@gateway/client/form-fields';
import type { Draft } from '../../ui/form/draft.ts';
import { ownSettings } from '../../ui/form/own-settings.ts';

type Route = components['schemas']['Route'];

/** The fields of a route whose objects a PATCH merges. */
export const MERGED_ROUTE_FIELDS = mergedNames(ROUTE_FORM);

/** Fields of which one replaces the other. */
export const TARGET_FIELDS = ['service_id', 'versions', 'respond', 'redirect'] as const;

/** The draft of a route that does not exist yet. */
export const NEW_ROUTE: Draft = usualValues(ROUTE_FORM);

/** What can be edited of a route. */
export function draftOf(route: Route): Draft {
  const fields: Draft = { ...route };
  return Object.fromEntries(Object.keys(NEW_ROUTE).map((name) => [name, fields[name]]));
}

/** What of a draft does not have its default. */
export function ownRoute(draft: Draft): Draft {
  return ownSettings(ROUTE_FORM, draft);
}
