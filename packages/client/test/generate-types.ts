import openapiTypes, { astToString } from 'openapi-typescript';

/** The types of the operations of `openapi.json`. */
export async function generateTypes(): Promise<string> {
  const document = new URL('../openapi.json', import.meta.url);
  const nodes = await openapiTypes(document, { alphabetize: true, defaultNonNullable: false });
  return `/** Generated from openapi.json by \`npm run generate\`. */\n${astToString(nodes)}`;
}
