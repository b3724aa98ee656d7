/** A number, then an address that may be named and quoted, as browsers read it. */
const REFRESH = /^(\s*[\d.]+(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(["']?))(.*)$/is;

/** Maps the address of a `Refresh` field (the HTML standard, section 4.2.5.3). */
export function mapRefresh(value: string, map: (reference: string) => string): string {
  const [, before = '', quote = '', rest = ''] = REFRESH.exec(value) ?? [];
  const end = quote === '' ? -1 : rest.indexOf(quote);
  const reference = end === -1 ? rest : rest.slice(0, end);
  const mapped = map(reference);
  return mapped === reference ? value : before + mapped + rest.slice(reference.length);
}
