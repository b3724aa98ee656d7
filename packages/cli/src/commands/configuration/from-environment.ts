import { readEnvironment } from '../../lookup/check-environment.ts';
import { readManifest, nameOf, type Kind, type Manifest } from '../../manifest/manifest.ts';
import { FailedError, UsageError } from '../../program/exit-codes.ts';
import type { Session } from '../../session.ts';
import { didYouMean } from '@gateway/shared/similar/did-you-mean';

/** What is taken of another environment. */
export interface FromOptions {
  readonly from?: string;
  readonly only?: Kind;
  readonly route?: readonly string[];
  readonly prune?: true;
}

/** @throws UsageError if options do not fit each other */
export function checkFromOptions(
  { from, only, route, prune }: FromOptions,
  files: readonly string[] | undefined,
): void {
  if (from === undefined && files === undefined) {
    throw new UsageError('name files with -f, or an environment with --from');
  }
  if (from !== undefined && files !== undefined) {
    throw new UsageError('-f and --from exclude each other');
  }
  if (from === undefined && (only !== undefined || route !== undefined)) {
    throw new UsageError('--only and --route need --from; files have what they declare');
  }
  if (route !== undefined && only !== undefined) {
    throw new UsageError('--only and --route exclude each other');
  }
  if (route !== undefined && prune) {
    throw new UsageError('--prune would delete the routes that --route leaves out');
  }
}

/**
 * What another environment has, as if files declared it for the environment of the command. Secrets are references, so the
 * environment keeps its own, unless a variable of that name is set.
 * @throws FailedError if there is no such environment, or no such route in it
 */
export async function manifestOfEnvironment(
  session: Session,
  from: string,
  { only, route }: FromOptions,
): Promise<Manifest> {
  if (session.requireEnvironment() === from) {
    throw new UsageError(`the environment is ${from}, which --from names too`);
  }
  await readEnvironment(session, from);
  const params = { path: { name: from } };
  const { body } = await session.client.get('/v1/environments/{name}/export', { params });
  const { services, routes } = body.data;
  const declared = {
    ...(route !== undefined || only === 'routes' ? {} : { services }),
    ...(only === 'services'
      ? {}
      : { routes: route === undefined ? routes : named(routes, route, from) }),
  };
  const { items } = readManifest([{ name: from, text: JSON.stringify(declared) }]);
  return {
    environment: undefined,
    items: { services: placed(items.services), routes: placed(items.routes) },
  };

  /** No text has a place that a person could look at. */
  function placed(of: Manifest['items'][Kind]): Manifest['items'][Kind] {
    const placeAt = () => `environment ${from}`;
    return of?.map((item) => ({ ...item, document: { ...item.document, placeAt } }));
  }
}

function named<Route>(routes: readonly Route[], names: readonly string[], from: string): Route[] {
  return [...new Set(names)].map((name) => {
    const found = routes.find((one) => nameOf(one) === name);
    if (found !== undefined) return found;
    const hint = didYouMean(
      name,
      routes.map((one) => nameOf(one) ?? ''),
    );
    throw new FailedError(`there is no route ${name} in ${from}${hint}`);
  });
}
