import * as units from '@grafana/grafana-foundation-sdk/units';
import { type Row } from '../parts/frame.ts';
import { graph } from '../parts/panel.ts';
import { all, failedAboveRoute } from './queries.ts';
import { REQUESTS } from '../parts/requests.ts';

const linkHere = {
  title: 'The versions of this route',
  url: '/d/gateway-canary?var-environment=${__field.labels.environment}&var-route=${__field.labels.route}&${__url_time_range}',
};

export const allRoutes: Row = {
  title: 'All routes of the environment',
  panels: [
    graph({
      title: 'Versions that fail more than their route',
      description:
        'The ten versions whose failed part is the most above that of their whole route. 5 %: of 100 requests five more fail than on the route as a whole.',
      unit: units.PercentUnit,
      queries: [{ expr: `topk(10, ${failedAboveRoute.expr})`, legend: failedAboveRoute.legend }],
      dataLinks: [linkHere],
    }),
    graph({
      title: 'Busiest versions',
      description:
        'The ten versions with the most requests. A version of yesterday that is still here: its rollout was not ended.',
      unit: units.RequestsPerSecond,
      queries: [
        {
          expr: `topk(10, ${all.perSecond(REQUESTS, { by: ['environment', 'route', 'version'], where: ['version!=""'] }).expr})`,
          legend: '{{environment}} {{route}} {{version}}',
        },
      ],
      dataLinks: [linkHere],
    }),
  ],
};
