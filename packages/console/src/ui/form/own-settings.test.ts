import { expect, it } from '@jest/globals';
import { ROUTE_FORM, usualValues } from '@gateway/client/form-fields';
import { ownSettings } from './own-settings.ts';

const usual = usualValues(ROUTE_FORM);

it('leaves out what has its default, also within objects', () => {
  expect(ownSettings(ROUTE_FORM, usual)).toEqual({});
  const rate_limit = { ...(usual['rate_limit'] as object), limit: 7 };
  const named = { ...usual, name: 'charges', rate_limit, methods: ['GET'], timeout_ms: 'soon' };
  expect(ownSettings(ROUTE_FORM, named)).toEqual({
    name: 'charges',
    timeout_ms: 'soon',
    methods: ['GET'],
    rate_limit: { limit: 7 },
  });
});

it('keeps an object that is there, even if all in it has its default', () => {
  const rewrite = usualValues(ROUTE_FORM['rewrite']?.fields ?? {});
  expect(ownSettings(ROUTE_FORM, { ...usual, name: 'a', rewrite })).toEqual({
    name: 'a',
    rewrite: {},
  });
});
