import { expect, it } from '@jest/globals';
import { ROUTE_FORM, usualValues } from '@gateway/client/form-fields';
import { kindOf, targetOf, type TargetKind } from './target.ts';

const NOTHING = { service_id: null, versions: null, respond: null, redirect: null };
const ONE = { ...NOTHING, service_id: 'svc_1' };
const VERSIONS = [
  { name: 'stable', service_id: 'svc_1', weight: 90 },
  { name: 'canary', service_id: 'svc_2', weight: 10 },
];

it.each<TargetKind>(['service', 'versions', 'respond', 'redirect'])(
  'of a route: %s replaces every other one',
  (kind) => {
    for (const before of [NOTHING, ONE, { ...NOTHING, versions: VERSIONS }]) {
      const target = targetOf(kind, before, undefined);
      expect(kindOf(target)).toBe(kind);
      expect(Object.values(target).filter((value) => value !== null).length).toBeLessThan(2);
    }
  },
);

it('takes the service from one to versions, and from the first version back', () => {
  const versions = targetOf('versions', ONE, undefined);
  expect(versions.versions).toEqual([{ name: 'v1', service_id: 'svc_1', weight: 100 }]);
  expect(targetOf('service', versions, undefined)).toEqual(ONE);
  expect(targetOf('redirect', ONE, undefined).redirect).toEqual(
    usualValues(ROUTE_FORM['redirect']?.fields ?? {}),
  );
});

it('comes back as it was: a second thought about versions does not send everything to one', () => {
  const canary = { ...NOTHING, versions: VERSIONS };
  const other = targetOf('service', canary, undefined);
  expect(targetOf('versions', other, canary)).toEqual(canary);
});
