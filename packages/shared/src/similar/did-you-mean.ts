/** At most so many names are suggested. */
const MAX_SUGGESTED = 3;

/**
 * What to add to an error about an unknown name: `; did you mean charges or charge?`, or nothing if no candidate is
 * similar.
 */
export function didYouMean(given: string, candidates: Iterable<string>): string {
  const names = similarNames(given, candidates);
  if (names.length === 0) return '';
  const last = names.at(-1) ?? '';
  const text = names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`;
  return `; did you mean ${text}?`;
}

/** The candidates that are most like a name, the best first: few edits away, or one begins with the other. */
export function similarNames(given: string, candidates: Iterable<string>): string[] {
  const word = given.toLowerCase();
  const scored = [...new Set(candidates)].flatMap((name) => {
    const score = scoreOf(word, name.toLowerCase());
    return score === undefined ? [] : [{ name, score }];
  });
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  // A name that is further away than the best one only distracts.
  const close = scored.filter(({ score }) => score === scored[0]?.score);
  return close.slice(0, MAX_SUGGESTED).map(({ name }) => name);
}

function scoreOf(word: string, name: string): number | undefined {
  if (word === '' || name === '') return undefined;
  const most = Math.max(1, Math.floor(Math.min(word.length, name.length) / 3));
  if (Math.abs(word.length - name.length) <= most) {
    const edits = editDistance(word, name);
    if (edits <= most) return edits;
  }
  const isPart = word.length >= 3 && name.includes(word);
  // A part of a name is less than a typo of it.
  return isPart ? 3 : undefined;
}

/** Insertions, deletions, changed characters and swapped neighbours between two words. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const changed = (last[column - 1] ?? 0) + (isSame ? 0 : 1);
      const isSwap =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      const swapped = isSwap ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, changed, swapped));
    }
    before = last;
    last = next;
  }
  return last[to.length] ?? 0;
}
