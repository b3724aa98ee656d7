// Runs before the page is shown. The choice is the one of the console, which stores it under this name.
const KEY = 'mantine-color-scheme-value';
let chosen: string | null = null;
try {
  chosen = localStorage.getItem(KEY);
} catch {
  // The browser stores nothing for this page.
}
const dark =
  chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
