import { describe, expect, it } from '@jest/globals';
import type { ApiDocument } from '../../../api/contract/document.ts';
import type { Gateway } from '../../../harness/gateway.ts';
import { READ_SCOPES } from '../callers.ts';
import type { Cells } from '../cells.ts';
import { comparable } from '../names/answers.ts';
import { placesOf } from '../names/places.ts';

/** A credential of each type, and the credential with a guess at one of its secrets. */
const CREDENTIALS: readonly Readonly<Record<string, string>>[] = [
  { type: 'bearer', token: 'the-right-token' },
  { type: 'basic', username: 'the-right-user', password: 'the-right-password' },
  { type: 'header', name: 'X-The-Right-Name', value: 'the-right-value' },
];
/** Anybody can compare a private key with its certificate, which is public. */
const NO_SECRET_TO_GUESS = 'body services[].tls.client_certificate.key_pem';

/** A caller that may only read cannot find out a secret by asking whether a guess would change it. */
export function describeGuessedSecrets(
  document: ApiDocument,
  gateway: () => Gateway,
  cells: Cells,
): void {
  describe('does not tell a reader whether it has guessed a secret of a service', () => {
    const guesses = CREDENTIALS.flatMap((credential) =>
      Object.keys(credential).flatMap((field) =>
        field === 'type' ? [] : [[field, credential] as const],
      ),
    );

    it('at any secret of a body that a reader may send', () => {
      const apply = document.operations.find(
        ({ operationId }) => operationId === 'applyEnvironment',
      );
      const places = apply === undefined ? [] : placesOf(document, apply);
      const secrets = places.filter((place) =>
        /credential\.(?!type)|key_pem|password|secret/.test(place),
      );
      const tried = guesses.map(([field]) => `body services[].credential.${field}`);
      expect(secrets.sort()).toEqual([...tried, NO_SECRET_TO_GUESS].sort());
    });

    it.each(guesses)('%s', async (field, credential) => {
      const { admin, upstream } = gateway();
      const { id, name } = await gateway().service({ credential });
      const { token } = await gateway().tokenClient({
        environments: ['production'],
        scopes: READ_SCOPES,
      });
      const askAbout = async (guess: object) => {
        const services = [{ name, url: upstream.url, credential: guess }];
        const body = { dry_run: true, services };
        const answer = await admin.call('POST', '/v1/environments/production/apply', {
          token,
          body,
        });
        return comparable(answer, id);
      };
      const wrong = credential[field]?.replace(/right/i, 'wrong');
      const answers = [
        await askAbout(credential),
        await askAbout({ ...credential, [field]: wrong }),
      ];
      cells.add(answers.length);
      expect(answers[0]).toBe(answers[1]);
    });
  });
}
