import { ApiError } from '@gateway/client';
import { fieldErrors } from '../../../ui/form/field-errors.ts';
import { FACETS, type FacetName } from './facets.ts';

/** A filter whose value the API refuses, and why. */
interface RefusedFacet {
  readonly name: FacetName;
  readonly text: string;
}

/** The filters that the API refuses, by the names that the page gives them. */
export function refusedFacets(error: unknown): readonly RefusedFacet[] {
  const errors = fieldErrors(error instanceof ApiError ? error.details : []);
  return FACETS.flatMap(({ label, parameters, name, rule }) => {
    const message = parameters.map((one) => errors.at(one)).find((one) => one !== undefined);
    return message === undefined ? [] : [{ name, text: `${label} ${rule ?? message}` }];
  });
}
