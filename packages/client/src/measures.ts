/** A measured duration for people, rounded: `0.4 ms`, `12 ms`, `1.25 s`, `2 min 5 s`, `19 h 56 min`. */
export function msText(ms: number): string {
  if (ms < 9.95) return `${(Math.round(ms * 10) / 10).toLocaleString('en')} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(Math.round(ms / 10) / 100).toLocaleString('en')} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const UNITS = ['KiB', 'MiB', 'GiB'] as const;

/** A measured size for people, rounded: `212 bytes`, `1 byte`, `10 MiB`, `1.5 KiB`, `104 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return countedText(bytes, 'byte');
  let size = bytes / 1024;
  let at = 0;
  while (size >= 1024 && at < UNITS.length - 1) {
    size /= 1024;
    at += 1;
  }
  const shown = size < 99.95 ? Math.round(size * 10) / 10 : Math.round(size);
  return `${countText(shown)} ${UNITS[at] ?? ''}`;
}

/** Events per second for people: `0`, `0.03`, `4.2`, `1,250`. */
export function rateText(perSecond: number): string {
  if (perSecond === 0) return '0';
  if (perSecond < 0.005) return '< 0.01';
  const digits = perSecond < 1 ? 2 : perSecond < 99.95 ? 1 : 0;
  return perSecond.toLocaleString('en', { maximumFractionDigits: digits });
}

/**
 * A part of a whole, with more digits where it is nearly none or nearly all: `0 %`, `0.02 %`, `3.4 %`, `50 %`, `99.9 %`.
 * `–`: there is no whole.
 */
export function shareText(share: number | null): string {
  if (share === null) return '–';
  const percent = share * 100;
  const rest = Math.min(percent, 100 - percent);
  if (rest <= 0) return `${countText(percent)} %`;
  // One error of a million is not none.
  if (rest < 0.005) return percent < 50 ? '< 0.01 %' : '> 99.99 %';
  const digits = rest < 1 ? 2 : rest < 9.95 ? 1 : 0;
  return `${percent.toLocaleString('en', { maximumFractionDigits: digits })} %`;
}

/** The CPU time that a process uses, of one core: `0 %`, `2.5 %`, `42 %`, `150 %`. */
export function cpuText(ratio: number): string {
  const percent = ratio * 100;
  return `${percent.toLocaleString('en', { maximumFractionDigits: percent < 9.95 ? 1 : 0 })} %`;
}

/** A count for people: `12`, `3,198`. */
export function countText(count: number): string {
  return count.toLocaleString('en');
}

/** A count with what is counted: `1 attempt`, `1,000 requests`. */
export function countedText(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}
