import { describe, expect, it } from '@jest/globals';
import { filesOf, type BuiltFile } from './preload-links.ts';

function chunk(
  fileName: string,
  moduleIds: readonly string[],
  imports: readonly string[] = [],
): BuiltFile {
  const isFacade = moduleIds.length === 0;
  const facadeModuleId = isFacade ? '/src/main.tsx' : null;
  return { type: 'chunk', fileName, moduleIds, imports, facadeModuleId };
}

const BUNDLE: Readonly<Record<string, BuiltFile>> = {
  'main.js': chunk('main.js', [], ['start.js']),
  'start.js': chunk('start.js', ['/src/main.tsx', '/src/router.ts'], ['runtime.js']),
  'runtime.js': chunk('runtime.js', ['/runtime'], ['start.js']),
  'page.js': chunk('page.js', ['/src/page.tsx'], ['start.js']),
  'style.css': { type: 'asset', fileName: 'style.css' },
};

describe('the files that the page names to be loaded', () => {
  it('are those of the modules, those that pass them on, and those that they import, each once', () => {
    const files = filesOf([/main\.tsx$/, /router\.ts$/], BUNDLE);
    expect([...files].toSorted()).toEqual(['main.js', 'runtime.js', 'start.js']);
  });

  it('are missing without a module: the build fails', () => {
    expect(() => filesOf([/shell\.tsx$/], BUNDLE)).toThrow('no file of the console has');
  });
});
