import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BUNDLED, builtPlane } from '@gateway/tools/build/built-planes';
import { expect, it } from '@jest/globals';

/** Those that encode and send. prom-client loads the interfaces of `@opentelemetry/api` in any case. */
const PACKAGES = /node_modules\/@opentelemetry\/(otlp|resources|core)/;

it.each(BUNDLED)(
  'the %s has the packages of OpenTelemetry in a file of their own, which it loads when it exports',
  async (plane) => {
    const main = await builtPlane(plane);
    const text = await readFile(main, 'utf8');
    expect(text).not.toMatch(PACKAGES);
    const [, file = ''] = /import\("\.\/([\w-]+\.mjs)"\)/.exec(text) ?? [];
    expect(await readFile(path.join(path.dirname(main), file), 'utf8')).toMatch(PACKAGES);
  },
);
