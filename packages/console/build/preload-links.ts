import type { HtmlTagDescriptor, Plugin } from 'vite';

/** What is needed of a file of the bundler. */
export type BuiltFile =
  | { readonly type: 'asset'; readonly fileName: string }
  | {
      readonly type: 'chunk';
      readonly fileName: string;
      readonly moduleIds: readonly string[];
      readonly facadeModuleId: string | null;
      readonly imports: readonly string[];
    };

/** What every page with a session needs beside the entry, or shares with the Overview. */
const NEEDED = [
  /[\\/]src[\\/]main\.tsx$/,
  /[\\/]src[\\/]shell[\\/]shell\.tsx$/,
  /[\\/]src[\\/]pages[\\/]overview[\\/]overview-page\.tsx$/,
];

/**
 * The files of the modules that these expressions name, with all that they import.
 * @throws Error if no file has such a module
 */
export function filesOf(
  needed: readonly RegExp[],
  bundle: Readonly<Record<string, BuiltFile>>,
): readonly string[] {
  const found = new Set<string>();
  const add = (file: string): void => {
    const chunk = bundle[file];
    if (chunk?.type !== 'chunk' || found.has(file)) return;
    found.add(file);
    chunk.imports.forEach(add);
  };
  for (const module of needed) {
    // A file that only passes on what is in another one stands for the module as well.
    const files = Object.values(bundle).filter(
      (one) =>
        one.type === 'chunk' &&
        [one.facadeModuleId ?? '', ...one.moduleIds].some((id) => module.test(id)),
    );
    if (files.length === 0) throw new Error(`no file of the console has ${module}`);
    for (const { fileName } of files) add(fileName);
  }
  return [...found];
}

/** Names in the page the files that every page needs, so that a browser loads them beside the entry and not after it. */
export function preloadLinks(): Plugin {
  return {
    name: 'preload-links',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }): HtmlTagDescriptor[] =>
        filesOf(NEEDED, bundle)
          .map((file) => `/console/${file}`)
          // The bundler names those that the entry imports.
          .filter((href) => !html.includes(href))
          .map((href) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href },
            injectTo: 'head',
          })),
    },
  };
}
