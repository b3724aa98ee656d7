/** The entry: small, so that it runs while the browser still loads the scripts of the pages. It imports nothing else. */

const CALLER_URL = `${location.origin}/console/api/v1/whoami`;
const isSignIn = location.pathname === '/console/sign-in';
// No page can be shown before it is known whose session this is.
const firstCall = isSignIn ? undefined : callFirst();
if (isSignIn) loadSignIn();

function callFirst() {
  const controller = new AbortController();
  const headers = { 'X-Console-Request': '1' };
  const response = fetch(CALLER_URL, { headers, signal: controller.signal });
  response.then(({ status }) => status === 401 && loadSignIn()).catch(() => undefined);
  return { url: CALLER_URL, response, cancel: (reason: unknown) => controller.abort(reason) };
}

/** Beside the start, because the page names only what pages with a session need. What fails here is loaded again there. */
function loadSignIn(): void {
  import('./pages/sign-in/sign-in-page.tsx').catch(() => undefined);
}

const { startConsole } = await import('./main.tsx');
startConsole(firstCall);

export {};
