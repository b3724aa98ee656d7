import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ApiDocument, type Operation } from '../../../api/contract/document.ts';
import { NAMES_NOTHING, NAMING, PLACES_NAME_NOTHING } from './reaches.ts';
import { keyOf, waysOf } from './ways.ts';
import { placesOf } from './places.ts';

const committed = new URL('../../../../packages/client/openapi.json', import.meta.url);
const document = new ApiDocument(readFileSync(committed, 'utf8'));
const operations: readonly Operation[] = document.operations;

describe('the table of what the values of a call name', () => {
  it.each(['audited_by', 'auth.service_id'])(
    'refuses an operation with the field %s, which it does not know, and says what to do',
    (field) => {
      const [operation] = operations.filter(({ operationId }) => operationId === 'createRoute');
      if (operation === undefined) throw new Error('there is no operation createRoute');
      const [name = '', inner] = field.split('.');
      const string = { type: 'string' };
      const property = inner === undefined ? string : { properties: { [inner]: string } };
      const schema = { type: 'object', properties: { [name]: property } };
      const requestBody = { required: true, content: { 'application/json': { schema } } };
      expect(() => waysOf(document, { ...operation, requestBody })).toThrow(
        `does not know body ${field} of POST /v1/routes. If its value can name an environment, service`,
      );
    },
  );

  it('lets no caller find out which names exist, because names can be guessed', () => {
    const guessed = ['environment', 'service', 'route', 'route version', 'token', 'upstream'];
    const told = [...NAMING].flatMap(([place, { named, cells }]) =>
      guessed.includes(named)
        ? [...cells].flatMap(([reach, cell]) => {
            const none = cells.get(reach === 'rte' ? 'none of rte' : 'none');
            const isCompared = reach !== 'again' && reach !== 'none of rte' && none !== '.';
            return isCompared && cell !== '.' && cell !== none ? [`${place}, ${reach}`] : [];
          })
        : [],
    );
    // The names of tokens are unique in each environment.
    expect(told).toEqual(['tokens body name, rte']);
  });

  it('has nothing that no operation has', () => {
    const used = new Set<string | undefined>(['header X-Gateway-Environment']);
    for (const operation of operations) {
      for (const place of ['header X-Gateway-Environment', ...placesOf(document, operation)]) {
        used.add(keyOf(operation, place));
      }
    }
    const known = [...NAMING.keys(), ...NAMES_NOTHING, ...PLACES_NAME_NOTHING];
    expect(known.filter((key) => !used.has(key))).toEqual([]);
  });
});
