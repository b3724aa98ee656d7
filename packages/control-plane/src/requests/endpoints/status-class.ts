import { choiceField } from '@gateway/shared/definitions/fields';

const NO_STATUS = 'none';

/** A class of statuses: the first digit; null if the caller left before a response. */
export type StatusClass = number | null;

/** A filter of requests by the class of their status. */
export const statusClassFilter = choiceField(['1xx', '2xx', '3xx', '4xx', '5xx', NO_STATUS])
  .optional()
  .meta({
    description:
      'Only requests whose status is of this class. `none`: the caller left before a response.',
    examples: ['5xx'],
  });

/** The class that the filter names; undefined without a filter. */
export function statusClassOf(name: string | undefined): StatusClass | undefined {
  if (name === undefined) return undefined;
  return name === NO_STATUS ? null : Number(name[0]);
}
