import { exampleId } from '@gateway/shared/definitions/fields';
import type { IdPrefix } from '@gateway/shared/ids';
import { z } from 'zod';

export const EXAMPLE_TIME = '2026-03-01T09:30:00.000Z';

/** A time in responses: RFC 3339, UTC. Accepts a Date, ms since the Unix epoch, or a string. */
export const timeView = z.preprocess((time) => {
  if (!(time instanceof Date) && typeof time !== 'number' && typeof time !== 'string') return time;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}, z.iso.datetime());

/** A time in a response, with what it is the time of. */
export function timeField(description: string) {
  return timeView.meta({ description, examples: [EXAMPLE_TIME] });
}

/** An id in a response. */
export function idView(prefix: IdPrefix, description: string) {
  return z.string().meta({ description, examples: [exampleId(prefix)] });
}

/** The fields that the gateway sets on each service and route. */
export const rowFields = {
  revision: z.int().meta({
    description: 'The revision. It rises with each change and is a part of the ETag.',
    examples: [3],
  }),
  created_at: timeField('When it was created.'),
  updated_at: timeField('When it was last changed.'),
};

export const ROW_FIELDS = ['revision', 'created_at', 'updated_at'] as const;

/** The same fields in a stored row. */
export interface RowFields {
  readonly revision: number;
  /** A Date, or a string in a row as JSON. */
  readonly created_at: Date | string;
  readonly updated_at: Date | string;
}
