import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Plugin } from 'vite';

const KIT = '@mantine/core';
/** Where a component of the kit has the names of its classes. */
const CLASS_NAMES = /@mantine[\\/]core[\\/].*\.module\.mjs$/;
const CLASS = /\bm_[0-9a-f]+\b/g;
/** The name of an animation looks like that of a class. */
const CLASS_IN_SHEET = /(?<=\.)m_[0-9a-f]+\b/g;
const IMPORT = /^@import '@mantine\/core\/styles\/(.+\.css)';$/gm;
/** What every page needs, whatever components it has. */
const BASE = ['baseline.css', 'default-css-variables.css', 'global.css'];

/**
 * The style sheets of the kit that these classes need, in the order in which the kit has them: the later ones override.
 * @param sheets the text of each style sheet by the name of its file
 * @param whole all of them in one text
 */
export function neededSheets(
  classes: ReadonlySet<string>,
  sheets: ReadonlyMap<string, string>,
  whole: string,
): readonly string[] {
  const needed: { readonly name: string; readonly at: number }[] = [];
  for (const [name, text] of sheets) {
    const own = text.match(CLASS_IN_SHEET) ?? [];
    const first = own[0];
    if (first === undefined || !own.some((one) => classes.has(one))) continue;
    needed.push({ name, at: whole.indexOf(`.${first}`) });
  }
  needed.sort((a, b) => a.at - b.at);
  return [...BASE, ...needed.map(({ name }) => name)];
}

/**
 * Fails the build unless `src/design/kit.css` imports the style sheets of those components of the kit that the console
 * uses, and no others. All of them would be more than twice as large.
 */
export function kitStyles(folder: string): Plugin {
  const list = path.join(folder, 'src/design/kit.css');
  return {
    name: 'kit-styles',
    apply: 'build',
    generateBundle(_options, bundle) {
      const classes = new Set<string>();
      for (const output of Object.values(bundle)) {
        if (output.type !== 'chunk') continue;
        for (const [id, { code }] of Object.entries(output.modules)) {
          if (CLASS_NAMES.test(id)) for (const one of code?.match(CLASS) ?? []) classes.add(one);
        }
      }
      const needed = neededSheets(classes, ...sheetsOfKit());
      const imported = Array.from(readFileSync(list, 'utf8').matchAll(IMPORT), ([, name]) => name);
      if (imported.join() === needed.join()) return;
      const lines = needed.map((name) => `@import '${KIT}/styles/${name}';`);
      this.error(`${list} must import the styles of what is used:\n${lines.join('\n')}`);
    },
  };
}

function sheetsOfKit(): readonly [ReadonlyMap<string, string>, string] {
  const whole = createRequire(import.meta.url).resolve(`${KIT}/styles.css`);
  const folder = path.join(path.dirname(whole), 'styles');
  const names = readdirSync(folder).filter((name) => !name.includes('.layer.'));
  const sheets = names.map(
    (name) => [name, readFileSync(path.join(folder, name), 'utf8')] as const,
  );
  return [new Map(sheets), readFileSync(whole, 'utf8')];
}
