import { readFileSync } from 'node:fs';
import { isCollection, isMap, isSeq, parseAllDocuments, Scalar, type Document } from 'yaml';

/** Where something is in a resource: keys, and indexes of lists. */
export type Path = readonly (string | number)[];

/** Lines of a template at a place whose indentation is known only when the resource is written. */
export type Lines = (indent: number) => readonly string[];

const MARK = /__CHART_(\d+)__/;
const WIDTH = 0;

/**
 * A resource of the manifests that becomes a template of the chart. What is not edited stays as the manifest has it, comments too.
 * Each edit leaves a mark in the document, which the template replaces by an action of Helm.
 */
export class Template {
  readonly #document: Document;
  readonly #actions: ((indent: number, line: string) => readonly string[])[] = [];
  #condition: string | undefined;

  constructor(document: Document) {
    this.#document = document;
  }

  get kind(): string {
    return String(this.#document.get('kind'));
  }

  get name(): string {
    return String(this.#document.getIn(['metadata', 'name']));
  }

  /** What the manifest has at a place. @throws Error if it has nothing there */
  read(path: Path): unknown {
    const found: unknown = this.#document.getIn(path, true);
    if (found === undefined) throw new Error(`${this.kind} ${this.name} has no ${path.join('.')}`);
    return isCollection(found)
      ? (found.toJS(this.#document) as unknown)
      : this.#document.getIn(path);
  }

  /** Puts an expression, such as `.Values.replicas`, in the place of a plain value. */
  inline(path: Path, expression: string): this {
    this.read(path);
    this.#mark(path, (_indent, line) => [line.replace(MARK, `{{ ${expression} }}`)]);
    return this;
  }

  /** Puts an expression that gives a map or a list in the place of one. */
  block(path: Path, expression: string): this {
    this.read(path);
    this.#mark(path, (indent, line) => [
      line.replace(new RegExp(` ${MARK.source}`), ''),
      `${' '.repeat(indent + 2)}{{- toYaml ${expression} | nindent ${indent + 2} }}`,
    ]);
    return this;
  }

  /** Adds lines at the end of a map or list, which may be missing. */
  add(path: Path, lines: Lines): this {
    if (!this.#document.hasIn(path)) this.#document.setIn(path, this.#document.createNode({}));
    const parent: unknown = this.#document.getIn(path, true);
    if (!isCollection(parent)) throw new Error(`${path.join('.')} is no map or list`);
    const mark = this.#reserve((indent) => lines(indent).map((line) => ' '.repeat(indent) + line));
    if (isMap(parent)) parent.set(mark, null);
    else if (isSeq(parent)) parent.add(mark);
    this.#unfold(path);
    return this;
  }

  /** Removes what is at a place. */
  remove(path: Path): this {
    this.read(path);
    this.#document.deleteIn(path);
    return this;
  }

  /** The resource exists only if an expression is true. */
  when(expression: string): this {
    this.#condition =
      this.#condition === undefined
        ? expression
        : `and ${group(this.#condition)} ${group(expression)}`;
    return this;
  }

  toString(): string {
    const text = this.#document.toString({ directives: false, lineWidth: WIDTH });
    const lines = text
      .trimEnd()
      .split('\n')
      .flatMap((line) => this.#replaced(line));
    const [open, close] =
      this.#condition === undefined ? [[], []] : [[`{{- if ${this.#condition} }}`], ['{{- end }}']];
    return [...open, '---', ...lines.filter((line) => line !== '---'), ...close, ''].join('\n');
  }

  #replaced(line: string): readonly string[] {
    const found = MARK.exec(line);
    if (found === null) return [line];
    const action = this.#actions[Number(found[1])];
    if (action === undefined) throw new Error(`unknown mark in ${line}`);
    // An item of a list has its first key behind its dash.
    const [start = ''] = /^\s*(- (?=\S+:))?/.exec(line) ?? [];
    return action(start.length, line).flatMap((one) => this.#replaced(one));
  }

  #mark(path: Path, action: (indent: number, line: string) => readonly string[]): void {
    const old: unknown = this.#document.getIn(path, true);
    const scalar = new Scalar(this.#reserve(action));
    if (isCollection(old) && old.commentBefore !== undefined)
      scalar.commentBefore = old.commentBefore;
    this.#document.setIn(path, scalar);
    this.#unfold(path.slice(0, -1));
  }

  #reserve(action: (indent: number, line: string) => readonly string[]): string {
    this.#actions.push(action);
    return `__CHART_${this.#actions.length - 1}__`;
  }

  /** Everything around an action is written in lines: none fits between braces. */
  #unfold(path: Path): void {
    for (let depth = 0; depth <= path.length; depth += 1) {
      const node: unknown = this.#document.getIn(path.slice(0, depth), true);
      if (isCollection(node)) node.flow = false;
    }
  }
}

function group(expression: string): string {
  return expression.startsWith('.') ? expression : `(${expression})`;
}

/** The resources of a file of the manifests, below `deploy`. */
export function templatesOf(file: string): Template[] {
  const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  return parseAllDocuments(text).map((document) => new Template(document as Document));
}

/** Lines that exist only if a value is not empty: a key, and the value as YAML. */
export function ifSet(key: string, expression: string): Lines {
  return (indent) => [
    `{{- with ${expression} }}`,
    `${key}:`,
    `  {{- toYaml . | nindent ${indent + 2} }}`,
    '{{- end }}',
  ];
}

/** Items of a list, or members of a map, that a value adds. */
export function itemsOf(expression: string): Lines {
  return (indent) => [
    `{{- with ${expression} }}`,
    `{{- toYaml . | nindent ${indent} }}`,
    '{{- end }}',
  ];
}
