const DAY_MS = 86_400_000;

/** An ISO time as a person reads it in a list: `09:30:17Z` within a day, else `03-01 09:30Z`, else with its year. */
export function shortTime(iso: string, nowMs: number): string {
  const parts = /^(\d{4})-(\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(?:\.\d+)?Z$/.exec(iso);
  if (!parts) return iso;
  const [, year = '', day = '', minute = '', second = ''] = parts;
  const agoMs = nowMs - Date.parse(iso);
  if (Math.abs(agoMs) < DAY_MS && iso.slice(0, 10) === isoDay(nowMs)) return `${minute}${second}Z`;
  return year === isoDay(nowMs).slice(0, 4) ? `${day} ${minute}Z` : `${year}-${day} ${minute}Z`;
}

const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
