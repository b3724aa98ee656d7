import { InvalidArgumentError } from 'commander';
import { valuesAt } from './json-path.ts';
import { valueText } from './printable.ts';
import type { Column } from './table.ts';

/** A comma between two columns: what follows up to a colon is a title. A path may have commas within its quotes. */
const BETWEEN = /,(?=[^,:[\]"']+:)/;

/**
 * The columns that `-o custom-columns=TITLE:PATH,…` asks for. A cell has the values at the path, with commas between them.
 * @throws InvalidArgumentError if it is no such list
 */
export function customColumns(text: string): readonly Column<unknown>[] {
  return text.split(BETWEEN).map((part) => {
    const at = part.indexOf(':');
    const title = part.slice(0, at).trim();
    const path = part.slice(at + 1).trim();
    if (at < 0 || title === '' || path === '') {
      throw new InvalidArgumentError(
        `Cannot read ${part}; columns are TITLE:PATH, such as NAME:$.name,STATUS:$.status.`,
      );
    }
    // A wrong path is refused before anything is asked or changed.
    valuesAt(path, null);
    return { title, of: (item) => cellText(valuesAt(path, item)) };
  });
}

/** undefined: nothing has a value. */
function cellText(values: readonly unknown[]): string | undefined {
  const known = values.filter((value) => value !== null && value !== undefined);
  return known.length === 0 ? undefined : known.map(valueText).join(',');
}
