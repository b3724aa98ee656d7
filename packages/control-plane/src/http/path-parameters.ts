import type { IdPrefix } from '@gateway/shared/ids';
import { z } from 'zod';
import { exampleId } from '@gateway/shared/definitions/fields';

/** Describes an id in a path. An id of another form is answered with 404, like one that does not exist. */
export function idParameter(prefix: IdPrefix, description: string): z.ZodType {
  return z.string().meta({ description, examples: [exampleId(prefix)] });
}

/** Describes a name in a path. */
export function nameParameter(description: string, example: string): z.ZodType {
  return z.string().meta({ description, examples: [example] });
}
