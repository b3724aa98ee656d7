const KEY = 'mantine-color-scheme-value';

/** Shows the button that changes the theme, here and in the console. */
export function enableThemeSwitch(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-theme-switch]');
  if (button === null) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const { dataset } = document.documentElement;
    const next = dataset['theme'] === 'dark' ? 'light' : 'dark';
    dataset['theme'] = next;
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // The browser stores nothing for this page; the choice holds until the next one.
    }
  });
}
