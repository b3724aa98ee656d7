import { choiceField } from './fields.ts';

const meta = {
  title: 'Addresses in responses',
  description:
    'Whether addresses of the upstream in `Location`, `Content-Location`, `Link`, `Refresh` and `Set-Cookie` become those by which the caller reached the route. `map`: they do, and the upstream gets `X-Forwarded-Port` and `X-Forwarded-Prefix`. `off`: they stay as the upstream sent them. A route that is applied or replaced without this field keeps what it has.',
  examples: ['map'],
};

const choice = choiceField(['map', 'off'], {
  map: 'Those by which callers reach the route',
  off: 'As the upstream sends them',
});

/** Of a new route. */
export const locationsField = choice.default('map').meta(meta);

/** Of a body that replaces a route: left out, the route keeps what it has. */
export const keptLocationsField = choice.optional().meta(meta);

/**
 * Of a stored or published route. What was written before the field existed means `off`, so that no release maps the
 * responses of a route whose callers know the addresses of its upstream.
 */
export const storedLocationsField = choice.default('off').meta(meta);
