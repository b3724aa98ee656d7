import { choiceField, routeNameField } from '@gateway/shared/definitions/fields';
import { OUTCOMES } from '@gateway/shared/records/record';
import { z } from 'zod';
import { ROUTE_ORDERS } from '../route-statistics.ts';
import { MAX_STEPS, STEPS, type StepName } from '../statistics.ts';
import {
  environmentFilter,
  listParameters,
  textParameter,
  timeParameter,
} from '../../http/list-query.ts';
import { grpcStatusFilter } from '../../requests/endpoints/grpc-status-filter.ts';
import { statusClassFilter } from '../../requests/endpoints/status-class.ts';
import { STATISTICS_GROUPS } from '../store/read-statistics.ts';

const STEP_NAMES = Object.keys(STEPS) as [StepName, ...StepName[]];

const nameFilter = (what: string, example: string) =>
  textParameter()
    .regex(/^[^\0]{0,255}$/, { error: 'must be at most 255 characters without NUL' })
    .optional()
    .meta({ description: `Only requests ${what}.`, examples: [example] });

const periodParameters = {
  from: timeParameter.optional().meta({
    description:
      'The begin of the period, rounded down to a minute. Default: an hour before `to`. Statistics are kept for 30 days.',
    examples: ['2026-03-01T09:00:00Z'],
  }),
  to: timeParameter.optional().meta({
    description: 'The end of the period, rounded up to a minute. Default: now.',
    examples: ['2026-03-01T10:00:00Z'],
  }),
};

/** The parameters of `GET /v1/stats`. */
export const statisticsQuery = z.strictObject({
  ...periodParameters,
  step: choiceField(STEP_NAMES)
    .optional()
    .meta({
      description:
        'The length of the steps, which are aligned to the clock in UTC. A period may have 120 of them. Default: no steps.',
      examples: ['15m'],
    }),
  environment: environmentFilter,
  route: nameFilter('to the route of this name', 'charges'),
  version: nameFilter('to the version of this name', 'v2'),
  service_id: nameFilter('to this service', 'svc_01k2tm8v4zj5r7c9e1g3p6t8w0'),
  status_class: statusClassFilter,
  grpc_status: grpcStatusFilter,
  outcome: choiceField(OUTCOMES)
    .optional()
    .meta({ description: 'Only requests that ended like this.', examples: ['timeout'] }),
  by: choiceField(STATISTICS_GROUPS)
    .optional()
    .meta({
      description:
        'Counts the requests by this as well: `groups` has the result. `version` needs `route`. Default: by nothing.',
      examples: ['version'],
    }),
});

/** As many as a page of a list has. */
const MAX_NAMES = 200;

/** More are too much for an answer: 200 routes with an hour of minutes each. */
export const MAX_ROUTE_STEPS = 12_000;

const namesParameter = textParameter()
  .max(MAX_NAMES * 64, { error: `must be at most ${MAX_NAMES} names` })
  .transform((text) => text.split(','))
  .pipe(z.array(routeNameField).max(MAX_NAMES, { error: `must be at most ${MAX_NAMES} names` }))
  .optional()
  // A query has only strings.
  .meta({
    type: 'string',
    items: undefined,
    maxItems: undefined,
    description: `Only the routes of these names, at most ${MAX_NAMES}, with commas between them.`,
    examples: ['charges,refunds'],
  });

/** The parameters of `GET /v1/stats/routes`. */
export const routeStatisticsQuery = z.strictObject({
  ...periodParameters,
  environment: environmentFilter,
  names: namesParameter,
  step: choiceField(STEP_NAMES)
    .optional()
    .meta({
      description: `The length of the steps of each route, which are aligned to the clock in UTC. A period may have ${MAX_STEPS} of them, and all routes of the answer ${MAX_ROUTE_STEPS}. Default: no steps.`,
      examples: ['1m'],
    }),
  order: choiceField(ROUTE_ORDERS)
    .default('requests')
    .meta({
      description:
        'Which routes come first: those with the most of this. `p95_ms` compares the 1000 routes with the most requests.',
      examples: ['errors'],
    }),
  limit: listParameters.limit,
});
