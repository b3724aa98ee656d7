/** A media range of `Accept` with its weight (RFC 9110 section 12.5.1). */
interface MediaRange {
  readonly type: string;
  /** 0 to 1. */
  readonly weight: number;
}

/** A parameter of a media range; its value may be quoted, and have commas and semicolons then. */
const PARAMETER = /;[ \t]*([^=;, \t"]*)(?:[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^;, \t"]*))?[ \t]*/y;
const RANGE = /[ \t,]*([^;, \t"]+)[ \t]*/y;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The media ranges of `Accept`, in lower case. What is malformed ends the list. A weight that is malformed is 0, so that
 * nobody gets what it did not ask for.
 */
function mediaRanges(accept: string): MediaRange[] {
  const ranges: MediaRange[] = [];
  let at = 0;
  for (;;) {
    RANGE.lastIndex = at;
    const [all, type] = RANGE.exec(accept) ?? [];
    if (all === undefined || type === undefined) return ranges;
    at += all.length;
    let weight = 1;
    for (;;) {
      PARAMETER.lastIndex = at;
      const [parameter, name, value = ''] = PARAMETER.exec(accept) ?? [];
      if (parameter === undefined) break;
      at += parameter.length;
      if (name?.toLowerCase() === 'q') weight = WEIGHT.test(value) ? Number(value) : 0;
    }
    ranges.push({ type: type.toLowerCase(), weight });
  }
}

/**
 * Whether a caller names one media type and does not prefer another to it. Of ranges that match the other one, the most
 * specific counts; a type that no range matches is not wanted.
 *
 * @param accept the value of `Accept`; the values of several fields are joined by commas
 * @param asked in lower case, as `other`
 */
export function prefersNamed(accept: string, asked: string, other: string): boolean {
  const ranges = mediaRanges(accept);
  const weightOf = (type: string) => ranges.find((range) => range.type === type)?.weight;
  const weight = weightOf(asked) ?? 0;
  const group = `${other.slice(0, other.indexOf('/'))}/*`;
  return weight > 0 && weight >= (weightOf(other) ?? weightOf(group) ?? weightOf('*/*') ?? 0);
}
