/** The URL, if a connection can be opened to it: other schemes have no host. */
export function httpUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}
