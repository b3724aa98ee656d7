/** The fields of a resource with the path of each, such as `rate_limit.limit`. Absent values are left out. */
export function flatten(value: unknown, path = ''): [path: string, value: string][] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) {
    return value.length === 0 ? [] : [[path, value.join(', ')]];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, at) => flatten(item, `${path}[${at}]`));
  }
  if (isObject(value)) {
    const prefix = path === '' ? '' : `${path}.`;
    return Object.entries(value).flatMap(([name, field]) => flatten(field, prefix + name));
  }
  return [[path, typeof value === 'string' ? value : JSON.stringify(value)]];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
