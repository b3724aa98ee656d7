import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { parse } from 'yaml';
import { z } from 'zod';
import { idOf, type ThirdPartyPackage } from './third-party-packages.ts';

/** A program of a release. */
export interface ReleasedProgram {
  readonly name: string;
  readonly version: string;
  readonly packages: readonly ThirdPartyPackage[];
  /** Of Debian, in an image. */
  readonly system?: readonly SystemPackage[];
}

/** A package of Debian whose files are in an image. */
export interface SystemPackage {
  readonly name: string;
  readonly version: string;
  /** Debian's name of the processor. */
  readonly architecture: string;
  /** Of its file, hexadecimal. */
  readonly sha256: string;
}

export interface BillOptions {
  /** pnpm-lock.yaml, which has the hash of each package. */
  readonly lockfile: string;
  /** The version of Node that the images contain. */
  readonly nodeVersion: string;
}

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ resolution: z.object({ integrity: z.string().optional() }) }),
  ),
});

/**
 * The software bill of materials of a program as CycloneDX 1.6 JSON: each package with its version, licence, package URL
 * and hash, and who depends on whom. The same inputs give the same bytes.
 */
export function billOfMaterials(program: ReleasedProgram, options: BillOptions): string {
  const { packages: locked } = lockSchema.parse(parse(options.lockfile));
  const root = new Models.Component(Enums.ComponentType.Application, program.name, {
    bomRef: program.name,
    version: program.version,
    licenses: new Models.LicenseRepository([new Models.SpdxLicense('Apache-2.0')]),
  });
  const components = new Map<string, Models.Component>();
  for (const one of program.packages) {
    components.set(idOf(one), componentOf(one, locked[idOf(one)]?.resolution.integrity));
  }
  for (const one of program.packages) {
    const component = components.get(idOf(one));
    for (const id of one.dependsOn) {
      const dependency = components.get(id);
      if (dependency !== undefined) component?.dependencies.add(dependency.bomRef);
    }
  }
  const node = new Models.Component(Enums.ComponentType.Platform, 'node', {
    bomRef: `node@${options.nodeVersion}`,
    version: options.nodeVersion,
    purl: `pkg:generic/node@${options.nodeVersion}`,
  });
  const all = [...components.values(), node, ...(program.system ?? []).map(systemComponent)];
  for (const component of all) root.dependencies.add(component.bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: root }),
    components: new Models.ComponentRepository(all),
  });
  const serializer = new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  );
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function systemComponent(one: SystemPackage): Models.Component {
  const { name, version, architecture, sha256 } = one;
  return new Models.Component(Enums.ComponentType.Library, name, {
    bomRef: `${name}@${version}`,
    version,
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], sha256]]),
  });
}

function componentOf(one: ThirdPartyPackage, integrity: string | undefined): Models.Component {
  const [scope, name = scope] = one.name.startsWith('@') ? one.name.split('/') : [one.name];
  const hashes = new Models.HashDictionary();
  const [, base64] = /^sha512-(.+)$/.exec(integrity ?? '') ?? [];
  if (base64 !== undefined) {
    hashes.set(Enums.HashAlgorithm['SHA-512'], Buffer.from(base64, 'base64').toString('hex'));
  }
  return new Models.Component(Enums.ComponentType.Library, name ?? one.name, {
    bomRef: idOf(one),
    version: one.version,
    ...(one.name.startsWith('@') && scope !== undefined && { group: scope }),
    purl: `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`,
    hashes,
    licenses: new Models.LicenseRepository(
      one.licence === undefined ? [] : [new Models.LicenseExpression(one.licence)],
    ),
  });
}
