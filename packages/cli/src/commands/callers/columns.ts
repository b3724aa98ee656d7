import type { components } from '@gateway/client';
import type { NameOf } from '../../lookup/resource-names.ts';
import { countText, msText } from '@gateway/client/measures';
import type { Column } from '../../output/table.ts';

type Caller = components['schemas']['CallerStatistics']['callers'][number];

/** From this part of a quota on a caller needs a look. */
const NEAR = 0.8;

export const callerColumns = (nameOf: NameOf): readonly Column<Caller>[] => [
  { title: 'CALLER', shrinks: 16, of: (caller) => callerText(caller, nameOf) },
  { title: 'REQUESTS', of: ({ requests }) => countText(requests) },
  {
    title: 'ERRORS',
    of: ({ errors }) => countText(errors),
    style: ({ errors }) => (errors > 0 ? 'red' : undefined),
  },
  {
    title: '429',
    of: ({ rate_limited: refused }) => countText(refused),
    style: ({ rate_limited: refused }) => (refused > 0 ? 'yellow' : undefined),
  },
  { title: 'P95', leftOut: 2, of: ({ p95_ms }) => msText(p95_ms) },
  {
    title: 'QUOTA USED',
    shrinks: 14,
    of: ({ quota }) => quota && `${Math.floor(quota.used * 100)} % of ${quota.route}`,
    style: ({ quota }) => (quota !== null && quota.used >= NEAR ? 'yellow' : undefined),
  },
  { title: 'LAST', time: true, leftOut: 1, of: ({ last_at }) => last_at },
  { title: 'TOKEN ID', wide: true, of: ({ token_id }) => token_id },
  { title: 'SUBJECT', wide: true, of: ({ subject }) => subject },
  {
    title: 'QUOTA LEFT',
    wide: true,
    of: ({ quota }) =>
      quota && `${countText(quota.remaining)} of ${countText(quota.limit)} at ${quota.at}`,
  },
];

/** The name of the token, the subject of the JWT, or that there was neither. */
const callerText = ({ token_id: token, subject }: Caller, nameOf: NameOf) =>
  nameOf(token) ?? subject ?? 'without credentials';
