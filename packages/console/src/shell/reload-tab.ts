const KEY = 'gateway-console-reloaded-at';
/** A reload that did not help is not tried again within this time. */
const AGAIN_AFTER_MS = 60_000;

/** Loads the console again, unless that was done a moment ago. */
export function reloadTab(): void {
  const last = Number(sessionStorage.getItem(KEY) ?? 0);
  if (Date.now() - last < AGAIN_AFTER_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
