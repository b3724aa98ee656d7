/** The parts of a JSON pointer (RFC 6901) such as `/services/0/name`. */
export function pointerParts(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The JSON pointer of a field of the object at `pointer`. */
export function pointerTo(pointer: string, field: string): string {
  return `${pointer}/${field.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
