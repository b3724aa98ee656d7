import { nameOf, placeInManifest, type Manifest } from './manifest.ts';

/** A service that a route of the files names, and that the files do not have. */
export interface ForeignService {
  readonly service: string;
  readonly place: string;
}

/** The services that an environment must have besides those of the files, where each is named. */
export function foreignServices(manifest: Manifest): ForeignService[] {
  const { services = [], routes = [] } = manifest.items;
  const known = new Set(services.map(({ value }) => nameOf(value)));
  return routes.flatMap(({ value }, at) =>
    namedServices(value).flatMap(([path, service]) => {
      if (known.has(service)) return [];
      return [{ service, place: placeInManifest(manifest, `/routes/${at}${path}`) ?? '' }];
    }),
  );
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

/** The names of services in a route, each with its JSON pointer. */
function namedServices(route: unknown): [path: string, service: string][] {
  const { service, versions, mirror } = fieldsOf(route);
  const named: [string, unknown][] = [
    ['/service', service],
    ...(Array.isArray(versions) ? versions : []).map((version, at): [string, unknown] => [
      `/versions/${at}/service`,
      fieldsOf(version)['service'],
    ]),
    ['/mirror/service', fieldsOf(mirror)['service']],
  ];
  return named.filter((one): one is [string, string] => typeof one[1] === 'string');
}
