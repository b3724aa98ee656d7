import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import { ok } from '../../http/reply.ts';
import { linksSchema, linksView, type LinkSettings } from '../links.ts';

/** `GET /v1/links`: where other tools show the same request, route or service. */
export function linkEndpoints(settings: LinkSettings): readonly Endpoint[] {
  const view = linksView(settings);
  const read = endpoint({
    method: 'GET',
    path: '/v1/links',
    operationId: 'getLinks',
    tag: 'Description',
    summary: 'Show links to other tools',
    description:
      'Shows templates of links to traces, logs and dashboards, as the settings of the control plane name them.',
    scope: null,
    answers: 'one',
    data: linksSchema,
    errors: [],
    handle: () => ok(view),
  });
  return [read];
}
