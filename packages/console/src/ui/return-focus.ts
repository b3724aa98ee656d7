import { useLayoutEffect } from 'react';

/**
 * Gives the focus back to what opened a dialog when its content goes: to the button, or to that of the menu whose item it
 * was. If that is gone too, such as the row of what was revoked, the page has the focus, so that Tab does not begin at the
 * top. For dialogs that exist only while they are open, of which the kit does not know what was there before.
 */
export function useReturnFocus(): void {
  useLayoutEffect(() => {
    const origin = originOf(document.activeElement);
    return () => {
      setTimeout(() => {
        const { activeElement: now, body } = document;
        if (now !== null && now !== body) return;
        const target = origin?.isConnected === true ? origin : document.getElementById('main');
        target?.focus({ preventScroll: true });
      });
    };
  }, []);
}

function originOf(element: Element | null): HTMLElement | null {
  const menu = element?.closest('[role=menu]');
  const button = menu?.getAttribute('aria-labelledby');
  if (typeof button === 'string') return document.getElementById(button);
  return element instanceof HTMLElement ? element : null;
}
