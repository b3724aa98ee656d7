import { FailedError } from '../../program/exit-codes.ts';

/** The end of one directive: its words, and whether `;`, `{` or `}` ended it. */
export interface Statement {
  readonly words: readonly string[];
  readonly end: ';' | '{' | '}' | 'end of file';
  readonly line: number;
  readonly column: number;
}

const SPACE = /[ \t\r\n]/;

/**
 * Reads a configuration word by word with the rules of nginx (`ngx_conf_read_token`): a quote begins a string only at
 * the start of a word, `#` a comment only there, `{` and `;` end a word but not after `$`, and `}` is one of its characters.
 * The parsers of npm have other rules; see ADR 0094.
 */
export class Tokens {
  readonly #name: string;
  readonly #text: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  /** @param name how messages name the file */
  constructor(name: string, text: string) {
    this.#name = name;
    this.#text = text.replace(/^\uFEFF/, '');
  }

  /** @throws FailedError with the place and the rule */
  next(): Statement {
    const words: string[] = [];
    let place = { line: this.#line, column: 1 };
    for (;;) {
      this.#skipSpace();
      const char = this.#text[this.#at];
      if (words.length === 0) place = this.#place();
      if (char === undefined) {
        if (words.length > 0) this.#fail('the file ends where ; or { must follow');
        return { words, end: 'end of file', ...place };
      }
      if (char === ';' || char === '{' || char === '}') {
        if ((char === '}') !== (words.length === 0)) this.#fail(`unexpected ${char}`);
        this.#at += 1;
        return { words, end: char, ...place };
      }
      if (char === '"' || char === "'") words.push(this.#quoted(char));
      else words.push(this.#word());
    }
  }

  /** Skips a block of Lua, whose `{` was read. */
  skipLua(): void {
    let depth = 1;
    const part =
      /--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*|\[(=*)\[[\s\S]*?\]\2\]|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|[{}]/g;
    part.lastIndex = this.#at;
    for (let found = part.exec(this.#text); found !== null; found = part.exec(this.#text)) {
      if (found[0] === '{') depth += 1;
      if (found[0] === '}') depth -= 1;
      if (depth > 0) continue;
      this.#moveTo(part.lastIndex);
      return;
    }
    this.#fail('a block of Lua without its end');
  }

  #skipSpace(): void {
    for (;;) {
      const char = this.#text[this.#at];
      if (char === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end === -1 ? this.#text.length : end;
      } else if (char !== undefined && SPACE.test(char)) this.#moveTo(this.#at + 1);
      else return;
    }
  }

  #word(): string {
    const start = this.#at;
    let isVariable = false;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) this.#fail('the file ends where ; or { must follow');
      if (char === '{' && isVariable) {
        this.#at += 1;
        continue;
      }
      isVariable = char === '$';
      if (char === '\\') this.#moveTo(this.#at + 2);
      else if (char === ';' || char === '{' || SPACE.test(char)) break;
      else this.#at += 1;
    }
    return unescaped(this.#text.slice(start, this.#at));
  }

  #quoted(quote: string): string {
    const start = this.#at + 1;
    let end = start;
    while (end < this.#text.length && this.#text[end] !== quote) {
      end += this.#text[end] === '\\' ? 2 : 1;
    }
    if (end >= this.#text.length) this.#fail(`a string without its end ${quote}`);
    this.#moveTo(end + 1);
    const after = this.#text[this.#at];
    // A parenthesis may follow, for conditions of if.
    if (after !== undefined && !SPACE.test(after) && !';{)'.includes(after)) {
      this.#fail(`unexpected ${after} after a string`);
    }
    return unescaped(this.#text.slice(start, end));
  }

  #moveTo(at: number): void {
    for (let index = this.#at; index < at; index += 1) {
      if (this.#text[index] !== '\n') continue;
      this.#line += 1;
      this.#lineStart = index + 1;
    }
    this.#at = at;
  }

  #place(): { line: number; column: number } {
    return { line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  #fail(rule: string): never {
    const { line, column } = this.#place();
    throw new FailedError(`${this.#name}:${line}:${column}: ${rule}`);
  }
}

const CONTROL: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' };

function unescaped(text: string): string {
  return text.replaceAll(/\\(["'\\trn])/g, (_all, char: string) => CONTROL[char] ?? char);
}
