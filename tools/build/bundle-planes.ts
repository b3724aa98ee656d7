// Bundles both planes, or the one of its argument, each with all that it imports, into packages/<plane>/dist/main.mjs, and the
// re-encryption beside the control plane. A process of one file starts with a third of the CPU time of one of a thousand files, and an image needs no
// node_modules.
import { mkdir } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buildOnce } from './build-once.ts';
import type { Plugin } from 'rolldown';
import { BUNDLED, planeDigest, planeFolder, root, type BundledPlane } from './built-planes.ts';

/** A module finds other files of the repository by its own place, also from within the bundle. */
function keepPlaceOfModules(outputFolder: string): Plugin {
  return {
    name: 'keep-place-of-modules',
    transform(code, id) {
      // Modules of the bundler itself have no place.
      if (!path.isAbsolute(id) || !code.includes('import.meta.url')) return undefined;
      const place = JSON.stringify(path.relative(outputFolder, id));
      return code.replaceAll('import.meta.url', `new URL(${place}, import.meta.url).href`);
    },
  };
}

/**
 * An `import` of `node:http` reads all of its exports. Three of them are getters that load the whole of undici, which
 * takes 45 ms of CPU time at each start (https://github.com/nodejs/node/issues/59686). To use one of them is an error of
 * this build.
 */
function importHttpWithoutUndici(): Plugin {
  const exported = Object.keys(http).filter((name) => !OF_UNDICI.has(name));
  return {
    name: 'import-http-without-undici',
    resolveId: (id, _importer, { kind }) =>
      HTTP_MODULES.has(id) && kind === 'import-statement' ? HTTP_WITHOUT_UNDICI : undefined,
    load: (id) =>
      id === HTTP_WITHOUT_UNDICI
        ? `const http = process.getBuiltinModule('node:http');
export default http;
export const { ${exported.join(', ')} } = http;`
        : undefined,
  };
}

const OF_UNDICI = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);
const HTTP_MODULES = new Set(['http', 'node:http']);
const HTTP_WITHOUT_UNDICI = '\0http-without-undici';

/** The programs of each plane; an image has no sources. */
const PROGRAMS: Readonly<Record<BundledPlane, readonly string[]>> = {
  'control-plane': ['main', 'commands/reencrypt'],
  'data-plane': ['main'],
};

async function bundle(plane: BundledPlane, program: string, draft: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const name = path.basename(program);
  const built = await rolldown({
    input: path.join(root, 'packages', plane, `src/${program}.ts`),
    platform: 'node',
    // An optional addon of pg that is not installed.
    external: ['pg-native'],
    plugins: [importHttpWithoutUndici(), keepPlaceOfModules(planeFolder(plane))],
  });
  await mkdir(draft, { recursive: true });
  // What a program imports only when it is needed, such as the packages of OpenTelemetry, is a file of its own.
  await built.write({
    dir: draft,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: `${name}-[name].mjs`,
  });
  await built.close();
}

const [only] = process.argv.slice(2);
const digest = planeDigest();
for (const plane of BUNDLED.filter((one) => only === undefined || one === only)) {
  await buildOnce({
    folder: planeFolder(plane),
    digest,
    build: async (draft) => {
      await Promise.all(PROGRAMS[plane].map((program) => bundle(plane, program, draft)));
    },
  });
}
