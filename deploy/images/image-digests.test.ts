import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const deploy = fileURLToPath(new URL('..', import.meta.url));
const OWN = /^(gateway\/|scratch$)/;

it('names every image of others by its digest, which cannot change under a tag', () => {
  const files = globSync(['**/*.{yaml,yml}', '**/*.Dockerfile'], {
    cwd: deploy,
    exclude: ['**/node_modules'],
  });
  const images = files.flatMap((file) => {
    const text = readFileSync(path.join(deploy, file), 'utf8');
    const found = text.matchAll(/^(?: *(?:- )?image:|FROM) +(\S+)/gm);
    return [...found].map(([, image = '']) => image).filter((image) => !OWN.test(image));
  });
  expect(images.length).toBeGreaterThan(8);
  expect(images.filter((image) => !/:[\w.-]*\d[\w.-]*@sha256:[0-9a-f]{64}$/.test(image))).toEqual(
    [],
  );
});
