import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { describeApi } from '../../commands/describe-api.ts';

it('the document of the client is the one that the control plane serves; `npm run generate` writes it', () => {
  const file = new URL('../../../../client/openapi.json', import.meta.url);
  const committed = JSON.parse(readFileSync(file, 'utf8')) as unknown;
  expect(committed).toEqual(JSON.parse(JSON.stringify(describeApi())));
});
