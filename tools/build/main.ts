// `npm run build`: bundles the planes and builds the console and the documentation, each unless it was built from the same sources before.
import { BUNDLED, builtPlane } from './built-planes.ts';
import { buildConsole, buildDocs } from './build-pages.ts';

function fail(line: string): void {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}

await Promise.all(BUNDLED.map(builtPlane)).catch((error: unknown) => fail(String(error)));
await buildConsole({ log: fail });
await buildDocs({ log: fail });
