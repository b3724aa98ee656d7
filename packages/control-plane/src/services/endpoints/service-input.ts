import type { UpstreamsInput } from '../service-upstreams.ts';
import type { CallerToken } from '../../access/caller.ts';
import { invalidField, pathId } from '../../http/input.ts';
import { serviceNotFound } from '../store/services.ts';
import type { UrlOfBody } from '../../hosts/allowed-hosts.ts';

/** The URLs of the upstreams in a body. */
export function urlsOf(body: UpstreamsInput): UrlOfBody[] {
  const listed = (body.upstreams ?? []).map(({ url }, at) => ({
    path: `upstreams.${at}.url`,
    url,
  }));
  return body.url === undefined ? listed : [{ path: 'url', url: body.url }, ...listed];
}

/** The environment of a call that names none. @throws GatewayError invalid_request if the token covers several */
export function onlyEnvironment(token: CallerToken): string {
  const [first, ...others] = token.environments;
  if (first === undefined || first === '*' || others.length > 0) {
    throw invalidField('environment', 'is required, because the token covers more than one');
  }
  return first;
}

/** The `{id}` of a service in a path. @throws GatewayError service_not_found if it is not an id */
export function serviceId(params: Readonly<Record<string, string>>): string {
  return pathId(params, 'svc', serviceNotFound);
}
