import { ROUTE_FORM } from '@gateway/client/form-fields';
import { valueAt, type Draft } from '../../ui/form/draft.ts';
import { ownRoute } from './route-draft.ts';

/** A route as a file for `gwctl apply` has it: with the names of services, and without defaults. */
export function routeManifest(
  environment: string,
  draft: Draft,
  serviceName: (id: string) => string,
): object {
  const own = ownRoute(draft);
  // Apply keeps it if it is left out.
  const shown: Draft = { ...own, locations: draft['locations'] };
  const { name, service_id, versions, mirror, ...settings } = Object.fromEntries(
    Object.keys(ROUTE_FORM).flatMap((field) => (field in shown ? [[field, shown[field]]] : [])),
  );
  const named = (value: unknown) => withServiceName(value, serviceName);
  const route = {
    name: name ?? '',
    ...(isText(service_id) ? { service: serviceName(service_id) } : {}),
    ...(Array.isArray(versions) ? { versions: versions.map(named) } : {}),
    ...settings,
    ...(mirror === undefined ? {} : { mirror: named(mirror) }),
  };
  return { environment, routes: [route] };
}

/** An object with the name of its service in place of the id. */
function withServiceName(value: unknown, serviceName: (id: string) => string): unknown {
  const id = valueAt(value, 'service_id');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]: [string, unknown]) =>
      name === 'service_id' ? ['service', isText(id) ? serviceName(id) : null] : [name, field],
    ),
  );
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
