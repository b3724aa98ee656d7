import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import type { AssetFiles } from './asset-files.ts';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
const MODULES = ['site', 'try-call'] as const;

export interface SiteScripts {
  /** Runs before the page is shown, so it is no module. */
  readonly theme: string;
  readonly site: string;
  readonly tryCall: string;
}

/** Bundles the scripts of the pages. The search is a file of its own, which is loaded when it is opened. */
export async function writeScripts(assets: AssetFiles): Promise<SiteScripts> {
  const common = { minify: true, dir: assets.folder, hashCharacters: 'base64' } as const;
  const modules = await rolldown({
    input: Object.fromEntries(MODULES.map((name) => [name, `${SOURCES}/${name}.ts`])),
    platform: 'browser',
  });
  const names = { entryFileNames: '[name]-[hash].js', chunkFileNames: '[name]-[hash].js' };
  const { output } = await modules.write({ ...common, ...names, format: 'esm' });
  await modules.close();
  const theme = await rolldown({ input: `${SOURCES}/theme.ts`, platform: 'browser' });
  const { output: themeOutput } = await theme.write({ ...common, ...names, format: 'iife' });
  await theme.close();
  const urlOf = (name: string) => {
    const chunk = [...output, ...themeOutput].find(
      (one) => one.type === 'chunk' && one.isEntry && one.name === name,
    );
    if (chunk === undefined) throw new Error(`the script ${name} was not bundled`);
    return assets.urlOf(chunk.fileName);
  };
  return { theme: urlOf('theme'), site: urlOf('site'), tryCall: urlOf('try-call') };
}
