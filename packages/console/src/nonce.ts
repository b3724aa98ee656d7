import { setNonce } from 'get-nonce';

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// The library that locks scrolling behind a dialog takes it from here.
setNonce(nonce);

/** What the policy of the page demands of each `<style>` element. */
export function styleNonce(): string {
  return nonce;
}
