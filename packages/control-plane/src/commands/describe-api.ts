import { parseAddressRanges } from '@gateway/shared/net/upstream-addresses';
import { openApiDocument } from '../http/openapi/document.ts';
import type { Json } from '../http/openapi/components.ts';
import { managementEndpoints, type EndpointDeps } from '../endpoints.ts';

/** The OpenAPI document as a control plane serves it, without a database and without NATS. */
export function describeApi(): Json {
  const hosts: EndpointDeps['hosts'] = {
    denied: parseAddressRanges([]),
    reserved: [],
    resolveName: () => Promise.resolve([]),
  };
  // The endpoints are described, never called, so their other dependencies are not used.
  return openApiDocument(managementEndpoints({ hosts, links: {} } as EndpointDeps));
}
