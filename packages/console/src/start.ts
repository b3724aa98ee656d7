/** The entry: small, so that it runs while the browser still loads the scripts of the pages. It imports nothing else. */

const CALLER_URL = `${location.origin}/console/api/v1/whoami`;
const isSignIn = location.pathname === '/console/sign-in';
// No page can be shown before it is known whose session this is.
const firstCall = isSignIn
  ? undefined
  : { url: CALLER_URL, response: fetch(CALLER_URL, { headers: { 'X-Console-Request': '1' } }) };

const { startConsole } = await import('./main.tsx');
startConsole(firstCall);

export {};
