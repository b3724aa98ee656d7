import { UsageError } from '../program/exit-codes.ts';

/** Checks the URL of a gateway, and removes slashes at its end. The client adds the paths of the API. */
export function parseBaseUrl(text: string, name: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`${name} must be an http or https URL, such as https://gateway.example`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${name} must have no user, query or fragment`);
  }
  return url.href.replace(/\/+$/, '');
}
