import { expect, it } from '@jest/globals';
import { isReference, referenceNames } from './reference.ts';

it('references of an environment have names of their own, none of which is that of the token of gwctl', () => {
  const reference = referenceNames();
  const names = [
    reference('payments', 'token'),
    reference('a-b', 'value'),
    reference('a_b', 'value'),
    reference('3d', 'client_key'),
    reference('gateway', 'token'),
  ];
  expect(names).toEqual([
    '${PAYMENTS_TOKEN}',
    '${A_B_VALUE}',
    '${A_B_VALUE_2}',
    '${_3D_CLIENT_KEY}',
    '${GATEWAY_TOKEN_2}',
  ]);
  expect(names.every(isReference)).toBe(true);
});
