/** A duration for people: `0.4 ms`, `12 ms`, `1.25 s`, `2 min 5 s`, `19 h 56 min`. */
export function msText(ms: number): string {
  if (ms < 9.95) return `${(Math.round(ms * 10) / 10).toLocaleString()} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_995) return `${(Math.round(ms / 10) / 100).toLocaleString()} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
