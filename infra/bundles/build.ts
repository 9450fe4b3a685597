import { join, relative } from 'node:path'
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild'
import { operationNames, operations } from '../../shared/api/operations.ts'
import { functionRows } from '../definitions/functions.ts'
import { nodeModules } from './node-modules.ts'
import { unused } from './pruned.ts'

/** What is deployed: one minified ES module per function, with the AWS SDK in it. */

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'dist/functions')

/** Where the bundle of a function lies, alone: its asset is the folder. */
export const bundleFolder = (name: string, folder = FOLDER): string => join(folder, name)
export const bundleFile = (name: string, folder = FOLDER): string =>
  join(bundleFolder(name, folder), 'index.mjs')

/**
 * The client for the sealing key, next to the bundle: most requests come from providers that do not
 * sign, and load no client for a secret.
 */
const SEALING = 'sealing.mjs'
const SEALING_ENTRY = 'shared/store/sealing.ts'

export const sealingFile = (name: string, folder = FOLDER): string =>
  join(bundleFolder(name, folder), SEALING)

const lazySealing: Plugin = {
  name: 'lazy-sealing',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/sealing\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${SEALING}`, external: true } : undefined,
    )
  },
}

/** How any bundler would be told to do it; the rest is what `unused` and `nodeModules` add. */
export const plain: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  minify: true,
  // `module` before `main` picks the packages' ES builds, which can be shaken.
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'error',
}

export const lean: BuildOptions = {
  ...plain,
  plugins: [nodeModules, unused, lazySealing],
  // undici's own word for a bundle without the parser that it has on trial.
  define: { esbuildDetection: 'true' },
}

export const everyFunction: Record<string, string> = Object.fromEntries(
  functionRows.map(({ name, entry }) => [name, entry]),
)

/** Functions that may load it: those that verify requests of providers, and the one that sets secrets. */
export const opensRequestSecrets = new Set<string>([
  ...operationNames.filter((name) => operations[name].caller === 'provider'),
  'manage-provider',
])

const withoutEnding = (file: string): string => file.replace(/\.mjs$/, '')

/** Builds all at once, so that what they share is read once. */
export const buildBundles = async (
  entries: Record<string, string> = everyFunction,
  options: BuildOptions = lean,
  folder = FOLDER,
): Promise<Metafile> => {
  const { metafile } = await build({
    ...options,
    entryPoints: Object.entries(entries).flatMap(([name, entry]) => [
      { in: entry, out: withoutEnding(relative(folder, bundleFile(name, folder))) },
      ...(opensRequestSecrets.has(name)
        ? [{ in: SEALING_ENTRY, out: withoutEnding(relative(folder, sealingFile(name, folder))) }]
        : []),
    ]),
    outdir: folder,
    metafile: true,
  })
  return metafile
}
