import { basename } from 'node:path'
import type { Metafile } from 'esbuild'
import { bundleFile, plain } from './build.ts'

/** The base that a bundle is measured against: what it holds of the AWS SDK, and nothing else. */

/** As a bundler's defaults have it: with the credential chain, and with Node's modules by import. */
export const asItComes = {
  ...plain,
  // Packages that still are CommonJS ask for Node's own modules by require.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
}

const CLIENT_FILE =
  /node_modules\/(@aws-sdk\/(?:client|lib|s3)-[a-z0-9-]+)\/dist-es\/(?:commands\/)?(\w+Client|\w+Command|Upload|getSignedUrl)\.js$/

/** The classes of the SDK that came into a bundle, under their packages. */
export const sdkIn = (metafile: Metafile, name: string): Map<string, string[]> => {
  const output = Object.entries(metafile.outputs).find(([file]) =>
    file.endsWith(`/${name}/${basename(bundleFile(name))}`),
  )
  const found = Object.keys(output?.[1].inputs ?? {})
    .map((file) => CLIENT_FILE.exec(file))
    .filter((match) => match !== null)
    // A client's base class is in it by itself.
    .filter(([, , exported = '']) => !exported.startsWith('Base'))
    .map(([, from = '', exported = '']) => ({ from, exported }))
    .sort((a, b) => a.exported.localeCompare(b.exported))
  return new Map(
    [...Map.groupBy(found, ({ from }) => from)].map(([from, ours]) => [
      from,
      ours.map(({ exported }) => exported),
    ]),
  )
}

/** A module that has these classes and nothing else. Two packages may have a class of one name. */
export const sdkAlone = (sdk: Map<string, string[]>): string =>
  [...sdk]
    .flatMap(([from, names]) =>
      names.map(
        (name) => `export { ${name} as ${nameIn(from, name)} } from ${JSON.stringify(from)}`,
      ),
    )
    .sort()
    .join('\n')

const nameIn = (from: string, name: string): string => `${from.replaceAll(/\W/g, '_')}_${name}`
