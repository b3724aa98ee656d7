import react from '@vitejs/plugin-react';
import type { UserConfig } from 'vite';
import { chunks } from './build/chunks.ts';
import { kitStyles } from './build/kit-styles.ts';
import { preloadLinks } from './build/preload-links.ts';

/** How the console is built: paths below /console, every file but the page with its hash in the name. */
export const config: UserConfig = {
  base: '/console/',
  plugins: [react(), kitStyles(import.meta.dirname), preloadLinks()],
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    // The browsers that can run the scripts preload modules themselves.
    modulePreload: { polyfill: false },
    // Files that are in a style sheet or a script as `data:` would need a wider policy.
    assetsInlineLimit: 0,
    // One style sheet, loaded with the first page: the loader does not repeat one that failed, so a page would have no style.
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: chunks } },
  },
};

export default config;
