/** The entry: small, so that it runs while the browser still loads the scripts of the pages. It imports nothing else. */

const CALLER_URL = `${location.origin}/console/api/v1/whoami`;
const isSignIn = location.pathname === '/console/sign-in';
// No page can be shown before it is known whose session this is.
const firstCall = isSignIn ? undefined : callFirst();

function callFirst() {
  const controller = new AbortController();
  const headers = { 'X-Console-Request': '1' };
  const response = fetch(CALLER_URL, { headers, signal: controller.signal });
  return { url: CALLER_URL, response, cancel: (reason: unknown) => controller.abort(reason) };
}

const { startConsole } = await import('./main.tsx');
startConsole(firstCall);

export {};
