import { ROUTE_FORM, SERVICE_FORM, type FormField, type FormFields } from '../src/form-fields.ts';

const FORMS: Readonly<Record<string, FormFields>> = { route: ROUTE_FORM, service: SERVICE_FORM };

/** A comment that names fields, with the table below it. `route.rate_limit` names each field of the object. */
const TABLE = /(<!-- fields of a (route|service): ([\w., ]+) -->\n\n)(?:\|.*\n)*/g;

/** The page with its tables of fields as the API defines them. */
export function withFieldTables(page: string): string {
  return page.replaceAll(TABLE, (_all, head: string, resource: string, paths: string) => {
    const rows = paths.split(', ').flatMap((path) => rowsOf(path, fieldAt(resource, path)));
    return `${head}${tableOf([[`field of a ${resource}`, 'default', 'meaning'], ...rows])}`;
  });
}

/** The paths of the fields of a route or a service that the tables of a page have, such as `route.retry.backoff_ms`. */
export function fieldsInTables(page: string): readonly string[] {
  return [...page.matchAll(TABLE)].flatMap(([, , resource = '', paths = '']) =>
    paths.split(', ').flatMap((path) => {
      return leavesOf(path, fieldAt(resource, path)).map(([leaf]) => `${resource}.${leaf}`);
    }),
  );
}

/** The paths of every field of routes and services; a list of objects is one field. */
export function allFields(): readonly string[] {
  return Object.entries(FORMS).flatMap(([resource, fields]) =>
    Object.entries(fields).flatMap(([name, field]) =>
      leavesOf(name, field).map(([path]) => `${resource}.${path}`),
    ),
  );
}

type Row = readonly [field: string, usual: string, meaning: string];

function fieldAt(resource: string, path: string): FormField {
  let fields = FORMS[resource];
  let field: FormField | undefined;
  for (const name of path.split('.')) {
    field = fields?.[name];
    fields = field?.fields;
  }
  if (field === undefined) throw new Error(`a ${resource} has no field ${path}`);
  return field;
}

function leavesOf(path: string, field: FormField): readonly (readonly [string, FormField])[] {
  if (field.kind !== 'object') return [[path, field]];
  return Object.entries(field.fields).flatMap(([name, inner]) =>
    leavesOf(`${path}.${name}`, inner),
  );
}

function rowsOf(path: string, field: FormField): readonly Row[] {
  return leavesOf(path, field).map(([leaf, one]) => [`\`${leaf}\``, usualText(one), meaning(one)]);
}

function usualText({ usual, nullMeans }: FormField): string {
  if (usual === undefined) return nullMeans === undefined ? '' : '`null`';
  if (usual === '') return 'empty';
  return typeof usual === 'number'
    ? digits(usual)
    : `\`${JSON.stringify(usual)}\``.replaceAll('"', '');
}

function meaning({ help, unit, min, max, nullMeans }: FormField): string {
  const range = [min, max].map((bound) => (bound === undefined ? '' : digits(bound))).join(' to ');
  const bounds = min === undefined ? '' : ` ${range}${unit === undefined ? '' : ` ${unit}`}.`;
  return `${help}${bounds}${nullMeans === undefined ? '' : ` \`null\`: ${nullMeans}.`}`;
}

/** With a space between groups of three, from 10 000 on. */
function digits(number: number): string {
  return number < 10_000 ? String(number) : String(number).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}

/** As the formatter of the repository aligns it. */
function tableOf([head, ...rows]: readonly Row[]): string {
  if (head === undefined) return '';
  const widths = head.map((_cell, at) =>
    Math.max(...[head, ...rows].map((row) => (row[at] ?? '').length)),
  );
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0, fill)).join(' | ')} |\n`;
  const rule = line(['', '', ''], '-');
  return [line(head, ' '), rule, ...rows.map((row) => line(row, ' '))].join('');
}
