import { expect, it } from '@jest/globals';
import { requestIdIn } from './request-id.ts';

const ID = 'req_01k2m8v4zj5r7c9e1g3p6t8w0x';

it.each([
  [ID],
  [`  ${ID}\n`],
  [`X-Request-Id: ${ID}`],
  [`{"error":{"request_id":"${ID}","code":"upstream_timeout"}}`],
  [`https://gateway.test/console/requests/${ID}?environment=production`],
  [ID.toUpperCase()],
])('finds the id in %j', (text) => {
  expect(requestIdIn(text)).toBe(ID);
});

it.each([[''], ['req_'], [ID.slice(0, -1)], [`${ID}7`], [ID.replace('k', 'l')], ['svc_01k2']])(
  'finds none in %j',
  (text) => {
    expect(requestIdIn(text)).toBeUndefined();
  },
);
