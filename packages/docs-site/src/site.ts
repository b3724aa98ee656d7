import { addCopyButtons } from './copy-buttons.ts';
import { markSection } from './current-section.ts';
import { enableSearch } from './open-search.ts';
import { enableThemeSwitch } from './theme-switch.ts';

enableThemeSwitch();
enableSearch();
addCopyButtons();
markSection();
for (const box of document.querySelectorAll<HTMLElement>('.table, .code pre, figure')) {
  // What scrolls sideways is reached with the keyboard.
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
document.querySelector('#navigation [aria-current="page"]')?.scrollIntoView({ block: 'nearest' });
