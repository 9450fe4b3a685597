import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Metafile } from 'esbuild'
import { buildBundles, bundleFile, everyFunction, lean, plain } from './build.ts'

/** Bundles to compare: a function, its part of the AWS SDK, and that part pruned as the function is. */
export type BundleComparison = { name: string; ours: string; sdk: string; pruned: string }

/** esbuild's defaults; the banner defines `require`, which CommonJS packages call for Node's modules. */
const sdkOptions = {
  ...plain,
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
}

const SDK_FILE =
  /node_modules\/(@aws-sdk\/(?:client|lib|s3)-[a-z0-9-]+)\/dist-es\/(?:commands\/)?(\w+Client|\w+Command|Upload|getSignedUrl)\.js$/

/** Returns a module that exports the SDK's clients and commands of a bundle, as `package_name`. */
const sdkModule = (metafile: Metafile, name: string): string => {
  const output = Object.entries(metafile.outputs).find(([file]) =>
    file.endsWith(`/${name}/${basename(bundleFile(name))}`),
  )
  return Object.keys(output?.[1].inputs ?? {})
    .flatMap((file) => {
      const [, from = '', exported = 'Base'] = SDK_FILE.exec(file) ?? []
      // A client includes its base class.
      if (exported.startsWith('Base')) return []
      const alias = `${from.replaceAll(/\W/g, '_')}_${exported}`
      return [`export { ${exported} as ${alias} } from ${JSON.stringify(from)}`]
    })
    .sort()
    .join('\n')
}

/** Builds the bundles of `names`, by default of all functions, into `folder`. */
export const buildComparisons = async (
  folder: string,
  names: readonly string[] = [],
): Promise<BundleComparison[]> => {
  const [ours, sdk, pruned, sources] = ['ours', 'sdk', 'pruned', 'sources'].map((part) =>
    join(folder, part),
  ) as [string, string, string, string]
  const metafile = await buildBundles(everyFunction, lean, ours)
  await mkdir(sources, { recursive: true })
  // Functions with the same part of the SDK share one base.
  const bases: Record<string, string> = {}
  const comparisons: BundleComparison[] = []
  for (const name of Object.keys(everyFunction)) {
    if (names.length > 0 && !names.includes(name)) continue
    const source = sdkModule(metafile, name)
    const base = createHash('sha256').update(source).digest('hex').slice(0, 12)
    bases[base] = join(sources, `${base}.js`)
    await writeFile(bases[base], source)
    comparisons.push({
      name,
      ours: bundleFile(name, ours),
      sdk: bundleFile(base, sdk),
      pruned: bundleFile(base, pruned),
    })
  }
  await buildBundles(bases, sdkOptions, sdk)
  await buildBundles(bases, lean, pruned)
  return comparisons
}
