import { applySchema } from '@gateway/control-plane/configuration/apply-document';
import { conditionsOf } from '@gateway/shared/definitions/route-match';
import { parseAddressRanges } from '@gateway/shared/net/client-address';
import { fuzzSettings, openFuzz } from '@gateway/shared/test/fuzz';
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { anySource, type Source } from '../../test/convert/any-source.ts';
import { readManifest } from '../manifest/manifest.ts';
import { replaceReferences } from '../manifest/replace-references.ts';
import { FailedError } from '../program/exit-codes.ts';
import { convertSource } from './convert-source.ts';

const schema = applySchema(parseAddressRanges([]));
const fuzz = openFuzz<Source>(new URL('any-input.kept.json', import.meta.url), 300);

/** What an apply into an empty environment would refuse. */
function faultsOf(yaml: string): readonly unknown[] {
  const { document } = replaceReferences(readManifest([{ name: 'made', text: yaml }]), {});
  const { error, data } = schema.safeParse(document);
  if (error !== undefined) return error.issues;
  const { services = [], routes = [] } = data;
  const names = new Set(services.map(({ name }) => name));
  const unknown = routes
    .flatMap(({ service, mirror }) => [service, mirror?.service])
    .filter((name) => typeof name === 'string' && !names.has(name));
  const conditions = routes.flatMap(({ match }) =>
    match.flatMap((way) => Array.from(conditionsOf(way), (one) => JSON.stringify(one))),
  );
  const repeated = conditions.filter((one, at) => conditions.indexOf(one) !== at);
  return [...unknown, ...repeated];
}

it('any file is refused with its place, or becomes one that the gateway accepts', () => {
  fc.assert(
    fc.property(anySource, ([format, text, host]) => {
      let yaml: string;
      try {
        const hosts = host === null ? [] : [host];
        ({ yaml } = convertSource(format, { name: 'file', text }, { hosts }));
      } catch (error) {
        expect(error).toBeInstanceOf(FailedError);
        expect((error as Error).message).toMatch(/^file(:\d+:\d+)?: /);
        return;
      }
      expect(faultsOf(yaml)).toEqual([]);
    }),
    fuzzSettings(fuzz),
  );
});
