import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AssetFiles } from './asset-files.ts';
import { designTokens } from './tokens.ts';

const STYLES = fileURLToPath(new URL('../../src/styles', import.meta.url));
const resolve = createRequire(import.meta.url).resolve;
/** The Latin parts; a letter of another script has the font of the system. */
const LATIN =
  'U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+2000-206F,U+20AC,U+2122,U+2190-2199,U+2212,U+FEFF,U+FFFD';
const FONTS = [
  {
    family: 'Inter',
    weights: '100 900',
    file: '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
  },
  {
    family: 'JetBrains Mono',
    weights: '100 800',
    file: '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2',
  },
];

/** Writes the one style sheet of all pages, and the fonts. The first font is the one of text. */
export function writeStyles(assets: AssetFiles): {
  readonly styles: string;
  readonly font: string;
} {
  const faces = FONTS.map(({ family, weights, file }) => {
    const url = assets.copy(resolve(file));
    const rule = `@font-face{font-family:"${family}";font-weight:${weights};font-display:swap;src:url("${url}") format("woff2");unicode-range:${LATIN}}`;
    return { url, rule };
  });
  const sheets = globSync('*.css', { cwd: STYLES })
    .toSorted()
    .map((file) => readFileSync(path.join(STYLES, file), 'utf8'));
  const css = [...faces.map(({ rule }) => rule), designTokens(), ...sheets.map(compact)];
  return { styles: assets.write('site.css', css.join('\n')), font: faces[0]?.url ?? '' };
}

/** Without comments and indentation. */
function compact(css: string): string {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim();
}
