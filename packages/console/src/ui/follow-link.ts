import type { MouseEvent } from 'react';
import { rowLink } from './row-link.ts';

const INTERACTIVE = 'a, button, input, label, [role="menuitem"]';

/**
 * Follows the link of a row, or presses its button, when the row is pressed anywhere else than on something that can be pressed itself;
 * with Ctrl or Cmd in another tab, as the link itself would. A text that was selected in the row stays selected.
 */
export function followLink(event: MouseEvent<HTMLElement>): void {
  const { currentTarget: row, target, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || !row.contains(target)) return;
  if (target.closest(INTERACTIVE) !== null || document.getSelection()?.isCollapsed === false)
    return;
  rowLink(row)?.dispatchEvent(
    new globalThis.MouseEvent('click', {
      bubbles: true,
      cancelable: true,
      ctrlKey,
      metaKey,
      shiftKey,
    }),
  );
}
