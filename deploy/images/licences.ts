import { licenceText, thirdPartyPackages } from '../third-party-packages.ts';

/** The licences of all packages of others that these packages of the repository depend on. */
export async function thirdPartyLicences(folders: readonly string[]): Promise<string> {
  const packages = await thirdPartyPackages(folders);
  const texts = packages.map(async (one) => {
    const text = (await licenceText(one)) ?? `License: ${one.licence ?? 'see its package.json'}`;
    return `${one.name} ${one.version}\n\n${text}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}
