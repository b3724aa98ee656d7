import { parseSource, type SourceDocument } from '../manifest/parse-source.ts';
import { placeOf } from '../manifest/place-of.ts';
import type { Source } from '../manifest/read-sources.ts';

/** A value of the source does not have the type that its tool expects. */
export class WrongType extends Error {
  override readonly name = 'WrongType';
  readonly place: string;
  constructor(place: string, rule: string) {
    super(rule);
    this.place = place;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of a YAML file with its place. It knows which of its fields were read, so that the others can be reported. */
export class SourceNode {
  readonly value: unknown;
  /** The name of the field, or the index in the list. */
  readonly name: string;
  readonly #document: SourceDocument;
  readonly #path: readonly string[];
  readonly #taken = new Set<string>();

  constructor(document: SourceDocument, value: unknown, path: readonly string[] = []) {
    this.#document = document;
    this.value = value;
    this.#path = path;
    this.name = path.at(-1) ?? '';
  }

  get place(): string {
    return placeOf(this.#document, this.#document.document.contents, this.#path);
  }

  /** Marks fields as read that need no remark. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#taken.add(name);
  }

  has(name: string): boolean {
    return isObject(this.value) && Object.hasOwn(this.value, name);
  }

  /** A field; undefined if it is missing or null. */
  get(name: string): SourceNode | undefined {
    this.#taken.add(name);
    if (!isObject(this.value) || !Object.hasOwn(this.value, name)) return undefined;
    const value = this.value[name];
    if (value === undefined || value === null) return undefined;
    return new SourceNode(this.#document, value, [...this.#path, name]);
  }

  /** The fields of an object. */
  fields(): readonly SourceNode[] {
    if (!isObject(this.value)) throw new WrongType(this.place, `${this.name} must be an object`);
    return Object.keys(this.value).flatMap((name) => this.get(name) ?? []);
  }

  /** The items of a list. */
  items(): readonly SourceNode[] {
    if (!Array.isArray(this.value)) {
      // An empty table of Lua is written as an object.
      if (isObject(this.value) && Object.keys(this.value).length === 0) return [];
      throw new WrongType(this.place, `${this.name} must be a list`);
    }
    return this.value.map(
      (item, index) => new SourceNode(this.#document, item, [...this.#path, String(index)]),
    );
  }

  /** The items of a list of strings; undefined if the field is missing. */
  texts(name: string): readonly string[] | undefined {
    return this.get(name)
      ?.items()
      .map((item) => item.asText());
  }

  text(name: string): string | undefined {
    return this.get(name)?.asText();
  }

  number(name: string): number | undefined {
    const node = this.get(name);
    if (node === undefined) return undefined;
    const value = typeof node.value === 'string' ? Number(node.value) : node.value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw new WrongType(node.place, `${name} must be a number`);
  }

  flag(name: string): boolean | undefined {
    const node = this.get(name);
    if (node === undefined || typeof node.value === 'boolean') return node?.value as boolean;
    throw new WrongType(node.place, `${name} must be true or false`);
  }

  asText(): string {
    const { value } = this;
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw new WrongType(this.place, `${this.name} must be a string`);
  }

  /** The fields that nobody has read. */
  unread(): readonly SourceNode[] {
    if (!isObject(this.value)) return [];
    const names = Object.keys(this.value).filter((name) => !this.#taken.has(name));
    return names.flatMap((name) => this.get(name) ?? []);
  }
}

/** The document of a YAML file. @throws UsageError with the place of a fault */
export function readYaml(source: Source): readonly SourceNode[] {
  return parseSource(source).map((document) => new SourceNode(document, document.value));
}
