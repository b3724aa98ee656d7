import { escapeHtml } from '../page/html.ts';

/** What a piece of code is, by the class that colours it. The first rule that matches at a place counts. */
type Rules = readonly (readonly [name: string, pattern: RegExp])[];

const HASH_COMMENT = ['comment', /(?<=^|\s)#.*/my] as const;
const DOUBLE = ['string', /"(?:[^"\\\n]|\\.)*"/y] as const;
const SINGLE = ['string', /'[^']*'/y] as const;
const NUMBER = ['number', /(?<![\w.-])\d+(?:\.\d+)?(?![\w.-])/y] as const;

const SHELL: Rules = [
  HASH_COMMENT,
  SINGLE,
  DOUBLE,
  ['variable', /\$(?:\w+|\{[^}]*\})/y],
  ['name', /(?<=^|\s)--?[a-zA-Z][\w-]*/my],
];
const YAML: Rules = [
  HASH_COMMENT,
  ['name', /(?<=^\s*(?:- )*)[\w./-]+(?=:(?:\s|$))/my],
  SINGLE,
  DOUBLE,
  NUMBER,
];
const JSON_RULES: Rules = [
  ['name', /"(?:[^"\\\n]|\\.)*"(?=\s*:)/y],
  DOUBLE,
  ['number', /\b(?:true|false|null)\b/y],
  NUMBER,
];
const TYPESCRIPT: Rules = [
  ['comment', /\/\/.*|\/\*[\s\S]*?\*\//y],
  SINGLE,
  DOUBLE,
  ['string', /`[^`]*`/y],
  [
    'name',
    /\b(?:import|from|const|let|await|async|for|of|if|else|return|new|try|catch|function|export|type|interface|throw|instanceof)\b/y,
  ],
  NUMBER,
];
const SETTINGS: Rules = [HASH_COMMENT, SINGLE, DOUBLE, ['name', /(?<=^\s*)[\w.]+(?=\s*[=:])/my]];
const SQL: Rules = [
  ['comment', /--.*/y],
  SINGLE,
  ['name', /\b(?:select|from|where|order|by|alter|create|set|role|group|with|and|or|limit)\b/iy],
  NUMBER,
];

const LANGUAGES: Readonly<Record<string, Rules>> = {
  sh: SHELL,
  json: JSON_RULES,
  yaml: YAML,
  ts: TYPESCRIPT,
  conf: SETTINGS,
  ini: SETTINGS,
  sql: SQL,
};

/** The code as HTML, with what it consists of in `span` elements. Of a language that is not known: only escaped. */
export function highlight(code: string, language: string): string {
  const rules = LANGUAGES[language] ?? [];
  if (rules.length === 0) return escapeHtml(code);
  let html = '';
  let plainFrom = 0;
  let at = 0;
  while (at < code.length) {
    const found = matchAt(rules, code, at);
    if (found === undefined) {
      at += 1;
      continue;
    }
    html += escapeHtml(code.slice(plainFrom, at));
    html += `<span class="code-${found.name}">${escapeHtml(found.text)}</span>`;
    at += found.text.length;
    plainFrom = at;
  }
  return html + escapeHtml(code.slice(plainFrom));
}

function matchAt(rules: Rules, code: string, at: number) {
  for (const [name, pattern] of rules) {
    pattern.lastIndex = at;
    const [text = ''] = pattern.exec(code) ?? [];
    if (text !== '') return { name, text };
  }
  return undefined;
}
