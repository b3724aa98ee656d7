import { describe, expect, it } from '@jest/globals';
import { neededSheets } from './kit-styles.ts';

const BUTTON = '.m_b {}';
const TEXT = '.m_a {} .m_a:hover {}';
const SHEETS = new Map([
  ['Button.css', BUTTON],
  ['Text.css', TEXT],
  ['Unused.css', '.m_c {}'],
  ['global.css', 'body {}'],
]);
const WHOLE = `body {} ${TEXT} ${BUTTON} .m_c {}`;
const BASE = ['baseline.css', 'default-css-variables.css', 'global.css'];

describe('the style sheets of the kit', () => {
  it('are those of the classes in use, in the order of the kit', () => {
    const needed = neededSheets(new Set(['m_b', 'm_a']), SHEETS, WHOLE);
    expect(needed).toEqual([...BASE, 'Text.css', 'Button.css']);
  });

  it('are those of every page if no component is used, or one without styles', () => {
    expect(neededSheets(new Set(['m_d']), SHEETS, WHOLE)).toEqual(BASE);
  });

  it('are not those of a class whose name only begins alike', () => {
    expect(neededSheets(new Set(['m_a1']), SHEETS, WHOLE)).toEqual(BASE);
  });
});
