import { buildConsole, buildDocs } from '@gateway/tools/build/build-pages';
import { BUNDLED, builtPlane } from '@gateway/tools/build/built-planes';
import { bundleNpmPackage } from '@gateway/tools/build/npm-packages';

/**
 * Builds all that images and archives contain: planes, console, documentation and gwctl, each unless it was built from the same
 * sources before. So they never contain an older build.
 *
 * @throws Error with what the build said
 */
export async function buildProduct(): Promise<void> {
  for (const plane of BUNDLED) await builtPlane(plane);
  const problems: string[] = [];
  const steps = { log: (line: string) => void problems.push(line) };
  await buildConsole(steps);
  await buildDocs(steps);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  await bundleNpmPackage('gwctl');
}
