/** The groups of operations in the OpenAPI document and the reference, in their order there. */
export const TAGS = {
  Services:
    'A service is an application behind the gateway: its upstream URLs, health checks, limits and credential.',
  Routes:
    'A route has a name, which is a part of the proxy path `/v1/proxy/{route}`, and says how requests to a service are handled: authentication, quota, retries, deadlines.',
  Requests: 'The gateway keeps a record of each proxied request for 30 days.',
  Environments:
    'An environment, such as `production`, holds services and routes. Names are unique within it.',
  Configuration:
    'Each change of an environment makes a new version of its configuration. Versions can be compared and restored.',
  Tokens:
    'A token authenticates calls of this API and of routes. It is limited to environments, routes and scopes.',
  'Audit events': 'An audit event says who changed what, and when.',
  'Data planes': 'A data plane is a process that carries traffic.',
  Description: 'The description of this API.',
} as const;

export type Tag = keyof typeof TAGS;
