const UNITS = ['KiB', 'MiB', 'GiB'] as const;

/** A size for people: `212 bytes`, `1 byte`, `10 MiB`, `1.5 KiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  let size = bytes / 1024;
  let at = 0;
  while (size >= 1024 && at < UNITS.length - 1) {
    size /= 1024;
    at += 1;
  }
  return `${(Math.round(size * 10) / 10).toLocaleString('en')} ${UNITS[at] ?? ''}`;
}
